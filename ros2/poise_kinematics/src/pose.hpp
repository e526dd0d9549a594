// Poses: seven numbers, x y z and then w x y z, as poise has them, and Eigen's.
#pragma once

#include <Eigen/Geometry>

namespace poise_kinematics
{
inline Eigen::Isometry3d pose_of(const double * seven)
{
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  pose.translation() = Eigen::Vector3d(seven);
  pose.linear() = Eigen::Quaterniond(seven[3], seven[4], seven[5], seven[6]).toRotationMatrix();
  return pose;
}

inline void write_pose(const Eigen::Isometry3d & pose, double * seven)
{
  const Eigen::Quaterniond turn(pose.rotation());
  Eigen::Map<Eigen::Vector3d>{seven} = pose.translation();
  seven[3] = turn.w();
  seven[4] = turn.x();
  seven[5] = turn.y();
  seven[6] = turn.z();
}

// The one turn from a rotation to another, as axis times angle along the axes that both are given in [rad].
inline Eigen::Vector3d turn_between(const Eigen::Matrix3d & from, const Eigen::Matrix3d & to)
{
  const Eigen::AngleAxisd turn(Eigen::Matrix3d(to * from.transpose()));
  return turn.angle() * turn.axis();
}
}  // namespace poise_kinematics
