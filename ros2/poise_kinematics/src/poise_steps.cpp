#include "poise_steps.hpp"

#include "place.hpp"

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
  file_.reset();
  try {
    const poise_steps::Params parameters =
      poise_steps::ParamListener(parameters_interface, param_namespace).get_params();
    alpha_ = parameters.alpha;
    scale_ = parameters.scale;
    measured_ = parameters.measured;
    file_.emplace(place_of(parameters.poise_file));
    work_.emplace(*file_);
    set_up(
      parameters.joints, parameters.base,
      parameters.tips.empty() ? std::vector<std::string>{parameters.tip} : parameters.tips);
  } catch (const std::exception & error) {
    file_.reset();
    RCLCPP_ERROR(logger(), "%s", error.what());
    return false;
  }
  return true;
}

void PoiseSteps::set_up(
  const std::vector<std::string> & named, const std::string & base, const std::vector<std::string> & tips)
{
  const poise::Tracker & file = *file_;
  std::vector<std::string> joints = named;
  if (joints.empty()) {
    std::vector<bool> moves(file.nv());
    for (const std::string & tip : tips) {
      const std::vector<bool> some = movers_of(file, *work_, frame_called(file, tip));
      std::transform(some.begin(), some.end(), moves.begin(), moves.begin(), std::logical_or<>());
    }
    for (std::size_t k = 0; k < moves.size(); ++k) {
      if (moves[k]) {
        joints.emplace_back(file.name(PZ_COORDINATE, static_cast<std::int64_t>(k)));
      }
    }
  }
  chain_ = chain_of(file, *work_, joints, base, "", tips);
  q_ = next_ = chain_.home;
  poses_.resize(7 * file.count(PZ_FRAME));
  columns_.resize(6, static_cast<Eigen::Index>(file.nv()));
  jacobian_.resize(6, static_cast<Eigen::Index>(joints.size()));
  attach();
  // A file does not say whether tasks lead their frames or tools on them.  With every tip where it is at home, no step
  // leads away from there.
  targets_.resize(7 * tips.size());
  for (std::size_t k = 0; k < tips.size(); ++k) {
    poise::Pose pose;
    work_->pose(q_, chain_.tips[k], pose);
    put_pose(pose, targets_, k);
  }
  // Behind the tips' targets stands the posture of a tracker that follows one: home.
  targets_.insert(targets_.end(), q_.begin(), q_.begin() + static_cast<std::ptrdiff_t>(file.count(PZ_POSTURE)));
  bool stays = work_->step(q_, targets_, next_) == PZ_OK;
  for (std::size_t k = 0; k < q_.size(); ++k) {
    stays = stays && std::abs(next_[k] - q_[k]) < 1e-9;
  }
  if (!stays) {
    throw std::runtime_error("poise's file does not lead these tips themselves, or has a home that breaks its limits");
  }
  work_->begin();  // which forgets that step
}

// What stands still in a tip's frame does so in two configurations of which no joint has the same value.
void PoiseSteps::attach()
{
  std::vector<double> other = q_, there = poses_;
  for (std::size_t k = 0; k < q_.size(); ++k) {
    other[k] += file_->upper()[k] - q_[k] > 0.3 ? 0.3 : -0.3;
  }
  work_->poses(q_, poses_);
  work_->poses(other, there);
  attached_.assign(poses_.size() / 7, std::nullopt);
  for (std::size_t link = 0; link < attached_.size(); ++link) {
    for (std::size_t k = 0; k < chain_.tips.size() && !attached_[link]; ++k) {
      const auto tip = static_cast<std::size_t>(chain_.tips[k]);
      const Eigen::Isometry3d offset = pose_at(poses_, link).inverse() * pose_at(poses_, tip);
      if (offset.isApprox(pose_at(there, link).inverse() * pose_at(there, tip), 1e-9)) {
        attached_[link] = Attached{k, offset};
      }
    }
  }
}

std::int64_t PoiseSteps::asked(const Eigen::VectorXd & joints, const std::string & link_name)
{
  if (!file_) {
    RCLCPP_ERROR(logger(), "poise_kinematics/PoiseSteps was not initialized");
    return -1;
  }
  if (joints.size() != jacobian_.cols()) {
    RCLCPP_ERROR(
      logger(), "There are %zu joints, but %zu values", chain_.places.size(), static_cast<std::size_t>(joints.size()));
    return -1;
  }
  const std::int64_t link = file_->frame(link_name);
  if (link < 0) {
    RCLCPP_ERROR(logger(), "poise's file has no link '%s'", link_name.c_str());
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
    RCLCPP_ERROR(logger(), "'%s' is fixed to no tip of poise's file", link_name.c_str());
    return false;
  }
  if (work_->poses(q_, poses_) != PZ_OK) {
    return false;
  }
  for (std::size_t k = 0; k < chain_.tips.size(); ++k) {
    std::copy_n(&poses_[static_cast<std::size_t>(7 * chain_.tips[k])], 7, &targets_[7 * k]);
  }
  Eigen::Isometry3d wish = pose_at(poses_, static_cast<std::size_t>(link));
  const Eigen::Vector3d turn = scale_ * (chain_.base.linear() * delta_x.tail<3>());
  wish.translation() += scale_ * (chain_.base.linear() * delta_x.head<3>());
  wish.linear() = Eigen::AngleAxisd(turn.norm(), turn.stableNormalized()) * wish.linear();
  put_pose(poise::pose(wish * attached->tip_in_link), targets_, attached->tip);
  const poise::Status status =
    measured_ ? work_->step({}, targets_, q_, next_) : work_->step(q_, targets_, next_);
  if (status != PZ_OK) {
    RCLCPP_ERROR(logger(), "%s", poise::message(status));
    return false;
  }
  delta_theta.resize(joint_pos.size());
  for (std::size_t k = 0; k < chain_.places.size(); ++k) {
    delta_theta(static_cast<Eigen::Index>(k)) = (next_[chain_.places[k]] - q_[chain_.places[k]]) / scale_;
  }
  q_ = next_;  // where the joints of loops are that the controller does not have
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
  poise::Pose pose;
  if (link < 0 || work_->pose(q_, link, pose) != PZ_OK) {
    return false;
  }
  transform = chain_.base.inverse() * poise::isometry(pose);
  return true;
}

bool PoiseSteps::calculate_jacobian(
  const Eigen::VectorXd & joint_pos, const std::string & link_name, Jacobian & jacobian)
{
  const std::int64_t link = asked(joint_pos, link_name);
  if (link < 0 || work_->jacobian(q_, link, columns_) != PZ_OK) {
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
