// A stub of rclcpp's parameters for poise's tests: a table of lists of words.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace rclcpp::node_interfaces
{
class NodeParametersInterface
{
public:
  std::map<std::string, std::vector<std::string>> table;
};
}  // namespace rclcpp::node_interfaces
