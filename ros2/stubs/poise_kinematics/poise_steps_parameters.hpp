// A stub of what generate_parameter_library makes of poise_steps_parameters.yaml, for poise's tests.
#pragma once

#include <poise_kinematics/reader.hpp>

namespace poise_steps
{
struct Params
{
  std::string poise_file, tip, base;
  std::vector<std::string> tips, joints;
  double scale, alpha;
  bool measured;
};

class ParamListener
{
public:
  ParamListener(
    const std::shared_ptr<rclcpp::node_interfaces::NodeParametersInterface> & parameters_interface,
    const std::string & prefix)
  : reader_(*parameters_interface, prefix)
  {
  }

  Params get_params() const
  {
    return {
      reader_.required("poise_file"), reader_.word("tip"), reader_.word("base"), reader_.words("tips"),
      reader_.words("joints"), reader_.number("scale", 1.0), reader_.number("alpha", 0.000005),
      reader_.word("measured") == "true"};
  }

private:
  stubs::Reader reader_;
};
}  // namespace poise_steps
