// What the stubs of generated parameters have in common: words of a table under a prefix.
#pragma once

#include <rclcpp/node.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace stubs
{
class Reader
{
public:
  Reader(const rclcpp::node_interfaces::NodeParametersInterface & given, const std::string & prefix)
  : given_(given), prefix_(prefix.empty() ? prefix : prefix + ".")
  {
  }

  std::vector<std::string> words(const std::string & name) const
  {
    const auto found = given_.table.find(prefix_ + name);
    return found == given_.table.end() ? std::vector<std::string>() : found->second;
  }

  std::string word(const std::string & name) const { return words(name).empty() ? "" : words(name).front(); }

  double number(const std::string & name, double usual) const
  {
    return words(name).empty() ? usual : std::stod(word(name));
  }

  std::string required(const std::string & name) const
  {
    if (word(name).empty()) {
      throw std::runtime_error("parameter '" + prefix_ + name + "' cannot be empty");
    }
    return word(name);
  }

private:
  const rclcpp::node_interfaces::NodeParametersInterface & given_;
  std::string prefix_;
};
}  // namespace stubs
