// A stub of the message moveit_msgs/MoveItErrorCodes for poise's tests: the codes that they need.
#pragma once

#include <cstdint>

namespace moveit_msgs::msg
{
struct MoveItErrorCodes
{
  static constexpr std::int32_t SUCCESS = 1;
  static constexpr std::int32_t TIMED_OUT = -6;
  static constexpr std::int32_t NO_IK_SOLUTION = -31;

  std::int32_t val = 0;
};
}  // namespace moveit_msgs::msg
