// A stub of rclcpp's node for poise's tests, which holds parameters and nothing else.
#pragma once

#include <rclcpp/node_interfaces/node_parameters_interface.hpp>

#include <memory>

namespace rclcpp
{
class Node
{
public:
  using SharedPtr = std::shared_ptr<Node>;

  std::shared_ptr<node_interfaces::NodeParametersInterface> get_node_parameters_interface() { return parameters_; }

private:
  std::shared_ptr<node_interfaces::NodeParametersInterface> parameters_ =
    std::make_shared<node_interfaces::NodeParametersInterface>();
};
}  // namespace rclcpp
