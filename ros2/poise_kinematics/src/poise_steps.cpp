#include "poise_steps.hpp"

#include "pose.hpp"

#include <pluginlib/class_list_macros.hpp>
#include <poise_kinematics/poise_steps_parameters.hpp>
#include <rclcpp/logging.hpp>

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

namespace poise_kinematics
{
namespace
{
rclcpp::Logger logger() { return rclcpp::get_logger("poise_kinematics.poise_steps"); }
}  // namespace

bool PoiseSteps::initialize(
  const std::string & /*robot_description*/,  // the file knows the robot
  std::shared_ptr<rclcpp::node_interfaces::NodeParametersInterface> parameters_interface,
  const std::string & param_namespace)
{
  work_.reset();
  try {
    const poise_steps::Params parameters = poise_steps::ParamListener(parameters_interface, param_namespace).get_params();
    alpha_ = parameters.alpha;
    set_up(
      parameters.poise_file, parameters.joints, parameters.base,
      parameters.tips.empty() ? std::vector<std::string>{parameters.tip} : parameters.tips);
  } catch (const std::exception & error) {
    work_.reset();
    RCLCPP_ERROR(logger(), "%s", error.what());
    return false;
  }
  return true;
}

void PoiseSteps::set_up(
  const std::string & path, const std::vector<std::string> & named, const std::string & base,
  const std::vector<std::string> & tips)
{
  const auto file = std::make_shared<const Prepared>(path);
  std::vector<std::string> joints = named;
  if (joints.empty()) {
    std::vector<bool> moves(static_cast<std::size_t>(file->count(PZ_NV)));
    for (const std::string & tip : tips) {
      const std::vector<bool> some = movers_of(*file, frame_called(*file, tip));
      std::transform(some.begin(), some.end(), moves.begin(), moves.begin(), std::logical_or<>());
    }
    for (std::size_t k = 0; k < moves.size(); ++k) {
      if (moves[k]) {
        joints.emplace_back(pz_name(file->solver(), PZ_COORDINATE, static_cast<std::int64_t>(k)));
      }
    }
  }
  chain_ = chain_of(file, joints, base, "", tips);
  const double * home = pz_home(file->solver());
  q_.assign(home, home + file->count(PZ_NQ));
  next_ = q_;
  poses_.resize(static_cast<std::size_t>(7 * file->count(PZ_FRAME)));
  columns_.resize(6, file->count(PZ_NV));
  jacobian_.resize(6, static_cast<Eigen::Index>(joints.size()));
  // Behind the targets of the tips stands the posture of a tracker that follows one: home.
  targets_.resize(7 * tips.size());
  targets_.insert(targets_.end(), home, home + file->count(PZ_POSTURE));
  work_.emplace(*file);
  attach();
  // A file does not say whose its tasks are.  With every tip where it is at home, no step leads away from there.
  for (std::size_t k = 0; k < tips.size(); ++k) {
    pz_pose(*work_, home, chain_.tips[k], &targets_[7 * k]);
  }
  const pz_status status = pz_step(*work_, home, targets_.data(), next_.data());
  if (status != PZ_OK) {
    throw std::runtime_error("'" + path + "': " + pz_message(status));
  }
  for (std::size_t k = 0; k < q_.size(); ++k) {
    if (!(std::abs(next_[k] - home[k]) < 1e-9)) {
      throw std::runtime_error("'" + path + "' is not of these tips in this order, or has a home that breaks its limits");
    }
  }
  work_.emplace(*file);  // which forgets that step
}

// What stands still in a tip's frame does so in two configurations of which no joint has the same value.
void PoiseSteps::attach()
{
  const pz_solver * solver = chain_.file->solver();
  std::vector<double> other = q_, there = poses_;
  for (std::size_t k = 0; k < q_.size(); ++k) {
    other[k] += pz_upper(solver)[k] - q_[k] > 0.3 ? 0.3 : -0.3;
  }
  pz_poses(*work_, q_.data(), poses_.data());
  pz_poses(*work_, other.data(), there.data());
  attached_.assign(poses_.size() / 7, std::nullopt);
  for (std::size_t link = 0; link < attached_.size(); ++link) {
    for (std::size_t k = 0; k < chain_.tips.size() && !attached_[link]; ++k) {
      const auto tip = static_cast<std::size_t>(chain_.tips[k]);
      const Eigen::Isometry3d offset = pose_of(&poses_[7 * link]).inverse() * pose_of(&poses_[7 * tip]);
      if (offset.isApprox(pose_of(&there[7 * link]).inverse() * pose_of(&there[7 * tip]), 1e-9)) {
        attached_[link] = Attached{k, offset};
      }
    }
  }
}

std::int64_t PoiseSteps::asked(const Eigen::VectorXd & joints, const std::string & link_name)
{
  if (!work_) {
    RCLCPP_ERROR(logger(), "poise_kinematics/PoiseSteps was not initialized");
    return -1;
  }
  if (joints.size() != jacobian_.cols()) {
    RCLCPP_ERROR(
      logger(), "There are %zu joints, but %zu values", chain_.places.size(), static_cast<std::size_t>(joints.size()));
    return -1;
  }
  const std::int64_t link = chain_.file->find(PZ_FRAME, link_name);
  if (link < 0) {
    RCLCPP_ERROR(logger(), "'%s' has no link '%s'", chain_.file->path().c_str(), link_name.c_str());
    return -1;
  }
  for (std::size_t k = 0; k < chain_.places.size(); ++k) {
    q_[chain_.places[k]] = joints(static_cast<Eigen::Index>(k));
  }
  return link;
}

bool PoiseSteps::convert_cartesian_deltas_to_joint_deltas(
  const Eigen::VectorXd & joint_pos, const Twist & delta_x, const std::string & link_name,
  Eigen::VectorXd & delta_theta)
{
  const std::int64_t link = asked(joint_pos, link_name);
  if (link < 0) {
    return false;
  }
  const std::optional<Attached> & attached = attached_[static_cast<std::size_t>(link)];
  if (!attached) {
    RCLCPP_ERROR(logger(), "'%s' is fixed to no tip of '%s'", link_name.c_str(), chain_.file->path().c_str());
    return false;
  }
  if (pz_poses(*work_, q_.data(), poses_.data()) != PZ_OK) {
    return false;
  }
  for (std::size_t k = 0; k < chain_.tips.size(); ++k) {
    std::copy_n(&poses_[static_cast<std::size_t>(7 * chain_.tips[k])], 7, &targets_[7 * k]);
  }
  Eigen::Isometry3d wish = pose_of(&poses_[static_cast<std::size_t>(7 * link)]);
  const Eigen::Vector3d turn = chain_.base.linear() * delta_x.tail<3>();
  wish.translation() += chain_.base.linear() * delta_x.head<3>();
  wish.linear() = Eigen::AngleAxisd(turn.norm(), turn.stableNormalized()) * wish.linear();
  write_pose(wish * attached->tip_in_link, &targets_[7 * attached->tip]);
  if (pz_step(*work_, q_.data(), targets_.data(), next_.data()) != PZ_OK) {
    return false;
  }
  delta_theta.resize(joint_pos.size());
  for (std::size_t k = 0; k < chain_.places.size(); ++k) {
    delta_theta(static_cast<Eigen::Index>(k)) = next_[chain_.places[k]] - q_[chain_.places[k]];
  }
  return true;
}

bool PoiseSteps::convert_joint_deltas_to_cartesian_deltas(
  const Eigen::VectorXd & joint_pos, const Eigen::VectorXd & delta_theta, const std::string & link_name,
  Twist & delta_x)
{
  if (delta_theta.size() != joint_pos.size() || !calculate_jacobian(joint_pos, link_name, jacobian_)) {
    return false;
  }
  delta_x.noalias() = jacobian_ * delta_theta;
  return true;
}

bool PoiseSteps::calculate_link_transform(
  const Eigen::VectorXd & joint_pos, const std::string & link_name, Eigen::Isometry3d & transform)
{
  const std::int64_t link = asked(joint_pos, link_name);
  double pose[7];
  if (link < 0 || pz_pose(*work_, q_.data(), link, pose) != PZ_OK) {
    return false;
  }
  transform = chain_.base.inverse() * pose_of(pose);
  return true;
}

bool PoiseSteps::calculate_jacobian(
  const Eigen::VectorXd & joint_pos, const std::string & link_name, Jacobian & jacobian)
{
  const std::int64_t link = asked(joint_pos, link_name);
  if (link < 0 || pz_jacobian(*work_, q_.data(), link, columns_.data()) != PZ_OK) {
    return false;
  }
  const Eigen::Matrix3d turn = chain_.base.linear().transpose();
  jacobian.resize(6, joint_pos.size());
  for (Eigen::Index k = 0; k < jacobian.cols(); ++k) {
    const auto column = columns_.col(static_cast<Eigen::Index>(chain_.places[static_cast<std::size_t>(k)]));
    jacobian.col(k) << turn * column.head<3>(), turn * column.tail<3>();
  }
  return true;
}

bool PoiseSteps::calculate_jacobian_inverse(
  const Eigen::VectorXd & joint_pos, const std::string & link_name, Inverse & jacobian_inverse)
{
  if (!calculate_jacobian(joint_pos, link_name, jacobian_)) {
    return false;
  }
  // The same as (J' J + alpha)^-1 J', which others write, and a matrix of six rows whatever the arm.
  Eigen::Matrix<double, 6, 6> square = jacobian_ * jacobian_.transpose();
  square.diagonal().array() += alpha_;
  const Eigen::Matrix<double, 6, 6> inverse = square.inverse();
  jacobian_inverse.resize(joint_pos.size(), 6);
  jacobian_inverse.noalias() = jacobian_.transpose() * inverse;
  return true;
}

bool PoiseSteps::calculate_frame_difference(Frame & x_a, Frame & x_b, double dt, Twist & delta_x)
{
  if (!(dt > 0.0)) {
    RCLCPP_ERROR(logger(), "dt is %g; it must be a positive number of seconds", dt);
    return false;
  }
  const Eigen::Quaterniond a(x_a(6), x_a(3), x_a(4), x_a(5)), b(x_b(6), x_b(3), x_b(4), x_b(5));
  delta_x << x_b.head<3>() - x_a.head<3>(), turn_between(a.toRotationMatrix(), b.toRotationMatrix());
  delta_x /= dt;
  return true;
}
}  // namespace poise_kinematics

PLUGINLIB_EXPORT_CLASS(poise_kinematics::PoiseSteps, kinematics_interface::KinematicsInterface)
