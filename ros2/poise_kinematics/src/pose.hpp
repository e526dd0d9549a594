// Eigen's poses, as poise and ROS write them.
#pragma once

#include <Eigen/Geometry>

#include <poise.hpp>  // behind Eigen, of whose poses it then knows

#include <algorithm>
#include <vector>

namespace poise_kinematics
{
// The one turn from a rotation to another, as axis times angle along the axes that both are given in [rad].
inline Eigen::Vector3d turn_between(const Eigen::Matrix3d & from, const Eigen::Matrix3d & to)
{
  const Eigen::AngleAxisd turn(Eigen::Matrix3d(to * from.transpose()));
  return turn.angle() * turn.axis();
}

// The pose at one of several places in a row.
inline Eigen::Isometry3d pose_at(const std::vector<double> & row, std::size_t place)
{
  const double * at = &row[7 * place];
  return poise::isometry({at[0], at[1], at[2], at[3], at[4], at[5], at[6]});
}

inline void put_pose(const poise::Pose & pose, std::vector<double> & row, std::size_t place)
{
  std::copy_n(pose.data(), 7, &row[7 * place]);
}
}  // namespace poise_kinematics
