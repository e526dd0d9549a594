// A stub of what generate_parameter_library makes of poise_ik_parameters.yaml, for poise's tests.
#pragma once

#include <poise_kinematics/reader.hpp>

namespace poise_ik
{
struct Params
{
  std::string poise_file, nearest_file;
  std::vector<std::string> tips;
};

class ParamListener
{
public:
  ParamListener(const rclcpp::Node::SharedPtr & node, const std::string & prefix)
  : reader_(*node->get_node_parameters_interface(), prefix)
  {
  }

  Params get_params() const
  {
    return {reader_.required("poise_file"), reader_.word("nearest_file"), reader_.words("tips")};
  }

private:
  stubs::Reader reader_;
};
}  // namespace poise_ik
