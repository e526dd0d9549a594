#include "poise_plugin.hpp"

#include "approach.hpp"
#include "place.hpp"

#include <pluginlib/class_list_macros.hpp>
#include <poise_kinematics/poise_ik_parameters.hpp>
#include <rclcpp/logging.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <stdexcept>

namespace poise_kinematics
{
namespace
{
constexpr double HALF_TURN = 3.141592653589793;

rclcpp::Logger logger() { return rclcpp::get_logger("poise_kinematics.poise_plugin"); }

// A value between two limits; without them, within half a turn of a seed.  The distributions of the standard library
// draw other numbers on other platforms.
double drawn(std::mt19937_64 & random, double lower, double upper, double seed)
{
  const double least = std::isfinite(lower) ? lower : seed - HALF_TURN;
  const double most = std::isfinite(upper) ? upper : seed + HALF_TURN;
  return least + (most - least) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

// Any answer but of numbers that are none is a configuration within the limits.
bool is_configuration(poise::Status status)
{
  return status == PZ_LOCAL_MINIMUM || status == PZ_BUDGET || status == PZ_COLLISION;
}
}  // namespace

struct PoisePlugin::Box
{
  Numbers lower, upper;
  bool narrow = false;  // narrower than the limits that the file knows itself
};

// Set-up -------------------------------------------------------------------------------------------------------------

bool PoisePlugin::initialize(
  const rclcpp::Node::SharedPtr & node, const moveit::core::RobotModel & robot_model, const std::string & group_name,
  const std::string & base_frame, const std::vector<std::string> & tip_frames, double search_discretization)
{
  node_ = node;
  search_.reset();
  try {
    const poise_ik::Params parameters =
      poise_ik::ParamListener(node, "robot_description_kinematics." + group_name).get_params();
    // MoveIt's loader names the last link of a group and no other; several tips come by the parameter.
    storeValues(
      robot_model, group_name, base_frame, parameters.tips.empty() ? tip_frames : parameters.tips,
      search_discretization);
    const moveit::core::JointModelGroup * group = robot_model.getJointModelGroup(group_name);
    if (!group) {
      throw std::runtime_error("the robot has no such group");
    }
    take_variables(*group);
    const Reading search = reading_of(parameters.poise_file);
    nearest_ = parameters.nearest_file.empty() ? search : reading_of(parameters.nearest_file);
    lower_.clear();
    upper_.clear();
    for (std::size_t k = 0; k < joints_.size(); ++k) {
      const moveit::core::VariableBounds & bounds = robot_model.getVariableBounds(variables_[joints_[k]]);
      const double lower = search.file.lower()[search.chain.places[k]];
      const double upper = search.file.upper()[search.chain.places[k]];
      lower_.push_back(bounds.position_bounded_ ? std::max(lower, bounds.min_position_) : lower);
      upper_.push_back(bounds.position_bounded_ ? std::min(upper, bounds.max_position_) : upper);
    }
    search_ = search;
  } catch (const std::exception & error) {
    RCLCPP_ERROR(logger(), "Group '%s': %s", group_name.c_str(), error.what());
    return false;
  }
  return true;
}

void PoisePlugin::take_variables(const moveit::core::JointModelGroup & group)
{
  if (!group.isSingleDOFJoints()) {
    throw std::runtime_error("a joint of several variables is none of poise_kinematics'");
  }
  variables_ = group.getVariableNames();
  joints_.clear();
  mimics_.clear();
  for (std::size_t k = 0; k < variables_.size(); ++k) {
    const moveit::core::JointModel * joint = group.getJointModel(variables_[k]);
    if (const moveit::core::JointModel * other = joint->getMimic()) {
      const auto master = std::find(variables_.begin(), variables_.end(), other->getName());
      if (master == variables_.end()) {
        throw std::runtime_error(variables_[k] + " follows " + other->getName() + ", which the group lacks");
      }
      mimics_.push_back(
        {k, static_cast<std::size_t>(master - variables_.begin()), joint->getMimicFactor(), joint->getMimicOffset()});
    } else {
      joints_.push_back(k);
    }
  }
}

Reading PoisePlugin::reading_of(const std::string & path) const
{
  std::vector<std::string> joints;
  for (const std::size_t place : joints_) {
    joints.push_back(variables_[place]);
  }
  const poise::Solver file(place_of(path));
  poise::SolverWork work(file);
  Reading reading{file, chain_of(file, work, joints, base_frame_, robot_model_->getModelFrame(), tip_frames_)};
  // A file does not say whether tasks lead their frames or tools on them.  With every tip where it is at home, home is
  // the answer, and of tools it is not.
  Numbers targets(7 * tip_frames_.size()), q(file.nq());
  for (std::size_t k = 0; k < tip_frames_.size(); ++k) {
    poise::Pose pose;
    work.pose(file.home(), reading.chain.tips[k], pose);
    put_pose(pose, targets, k);
  }
  if (work.solve(targets, file.home(), q) != PZ_OK || q != reading.chain.home) {
    throw std::runtime_error(path + " does not lead these tips themselves, or has a home that breaks its limits");
  }
  return reading;
}

bool PoisePlugin::supportsGroup(const moveit::core::JointModelGroup * group, std::string * error_text_out) const
{
  const auto refuse = [error_text_out](const std::string & why) {
    if (error_text_out) {
      *error_text_out = why;
    }
    return false;
  };
  if (!group || !group->isSingleDOFJoints()) {
    return refuse("poise_kinematics needs a group whose joints have one variable each");
  }
  for (const std::string & name : group->getVariableNames()) {
    if (std::find(variables_.begin(), variables_.end(), name) == variables_.end()) {
      return refuse("poise_kinematics was not initialized with '" + name + "'");
    }
  }
  return true;
}

// Search -------------------------------------------------------------------------------------------------------------

std::optional<PoisePlugin::Box> PoisePlugin::box_of(const Numbers & seed, const Numbers & consistency_limits) const
{
  Box box{lower_, upper_};
  for (std::size_t k = 0; k < joints_.size(); ++k) {
    const std::size_t variable = joints_[k];
    const auto & redundant = redundant_joint_indices_;
    const bool held = std::find(redundant.begin(), redundant.end(), variable) != redundant.end();
    if (held || !consistency_limits.empty()) {
      // A hair's breadth less, for |q - seed| is rounded as well.
      const double most = held ? 0.0 : consistency_limits[variable] * (1.0 - 1e-12);
      box.lower[k] = std::max(box.lower[k], seed[variable] - most);
      box.upper[k] = std::min(box.upper[k], seed[variable] + most);
    }
    if (!(box.lower[k] <= box.upper[k])) {
      return std::nullopt;
    }
    const std::size_t place = search_->chain.places[k];
    box.narrow =
      box.narrow || box.lower[k] > search_->file.lower()[place] || box.upper[k] < search_->file.upper()[place];
  }
  return box;
}

bool PoisePlugin::find(
  const std::vector<Pose> & poses, const Numbers & seed, double timeout, bool once, const Numbers & consistency_limits,
  Numbers & solution, const IKCallbackFn & callback, ErrorCode & error_code, const Options & options) const
{
  const std::chrono::duration<double> allowed(timeout > 0.0 ? timeout : default_timeout_);
  const auto deadline = poise::Clock::now() + std::chrono::duration_cast<poise::Clock::duration>(allowed);
  error_code.val = ErrorCode::NO_IK_SOLUTION;
  if (!search_) {
    RCLCPP_ERROR(logger(), "Group '%s' was not initialized", group_name_.c_str());
    return false;
  }
  if (
    poses.size() != tip_frames_.size() || seed.size() != variables_.size() ||
    (!consistency_limits.empty() && consistency_limits.size() != variables_.size())) {
    RCLCPP_ERROR(
      logger(), "Group '%s' has %zu tips and %zu variables, but there are %zu poses, %zu seeds and %zu limits",
      group_name_.c_str(), tip_frames_.size(), variables_.size(), poses.size(), seed.size(), consistency_limits.size());
    return false;
  }
  const std::optional<Box> box = box_of(seed, consistency_limits);
  if (!box) {
    return false;
  }
  // In a narrow box a start has been led to a solution or to none; far ones are of no use.
  const Reading & reading = once || box->narrow ? *nearest_ : *search_;
  const Chain & chain = reading.chain;
  Numbers targets(7 * poses.size());
  for (std::size_t k = 0; k < poses.size(); ++k) {
    const Pose & pose = poses[k];
    const Eigen::Isometry3d in_base = poise::isometry(
      {pose.position.x, pose.position.y, pose.position.z, pose.orientation.w, pose.orientation.x, pose.orientation.y,
       pose.orientation.z});
    put_pose(poise::pose(chain.base * in_base), targets, k);
  }
  poise::SolverWork work(reading.file);  // to begin one takes a microsecond, and nothing is locked
  std::mt19937_64 random(0);  // so that the same question has the same answer
  Numbers joints(joints_.size()), q;
  for (std::size_t k = 0; k < joints.size(); ++k) {
    joints[k] = std::min(std::max(seed[joints_[k]], box->lower[k]), box->upper[k]);
  }
  do {
    q = chain.q(joints);
    if (box->narrow) {
      approach(reading, work, targets, box->lower, box->upper, q);
    }
    const Numbers start = q;
    const poise::Status status = work.solve(targets, start, q, deadline);
    // Where shapes must be kept apart q is left alone unless they are.
    const bool any = options.return_approximate_solution && is_configuration(status) && q != start;
    bool taken = (status == PZ_OK && (!once || work.report().start <= 0)) || any;
    for (std::size_t k = 0; k < joints.size(); ++k) {
      const double value = q[chain.places[k]];
      taken = taken && box->lower[k] <= value && value <= box->upper[k];
    }
    if (taken) {
      solution.resize(variables_.size());
      for (std::size_t k = 0; k < joints.size(); ++k) {
        solution[joints_[k]] = q[chain.places[k]];
      }
      for (const Mimic & mimic : mimics_) {
        solution[mimic.variable] = mimic.factor * solution[mimic.master] + mimic.offset;
      }
      error_code.val = ErrorCode::SUCCESS;
      if (callback) {
        callback(poses.front(), solution, error_code);
      }
      if (error_code.val == ErrorCode::SUCCESS) {
        return true;
      }
    }
    // Where poise itself has looked everywhere, there is nothing to look for again.
    if (once || status == PZ_BAD_INPUT || (status == PZ_LOCAL_MINIMUM && !box->narrow)) {
      error_code.val = status == PZ_BUDGET ? ErrorCode::TIMED_OUT : ErrorCode::NO_IK_SOLUTION;
      return false;
    }
    for (std::size_t k = 0; k < joints.size(); ++k) {
      joints[k] = drawn(random, box->lower[k], box->upper[k], seed[joints_[k]]);
    }
  } while (poise::Clock::now() < deadline);
  error_code.val = ErrorCode::TIMED_OUT;
  return false;
}

// MoveIt's faces -----------------------------------------------------------------------------------------------------

bool PoisePlugin::getPositionIK(
  const Pose & ik_pose, const Numbers & ik_seed_state, Numbers & solution, ErrorCode & error_code,
  const Options & options) const
{
  return find({ik_pose}, ik_seed_state, 0.0, true, {}, solution, nullptr, error_code, options);
}

bool PoisePlugin::getPositionIK(
  const std::vector<Pose> & ik_poses, const Numbers & ik_seed_state, std::vector<Numbers> & solutions,
  kinematics::KinematicsResult & result, const Options & options) const
{
  result.solution_percentage = 0.0;
  result.kinematic_error = kinematics::KinematicErrors::NO_SOLUTION;
  if (!search_) {
    result.kinematic_error = kinematics::KinematicErrors::SOLVER_NOT_ACTIVE;
  } else if (options.discretization_method != kinematics::DiscretizationMethods::NO_DISCRETIZATION) {
    result.kinematic_error = kinematics::KinematicErrors::UNSUPORTED_DISCRETIZATION_REQUESTED;
  } else if (ik_poses.empty()) {
    result.kinematic_error = kinematics::KinematicErrors::EMPTY_TIP_POSES;
  } else {
    ErrorCode error_code;
    solutions.resize(1);
    if (find(ik_poses, ik_seed_state, 0.0, true, {}, solutions[0], nullptr, error_code, options)) {
      result.solution_percentage = 1.0;
      result.kinematic_error = kinematics::KinematicErrors::OK;
      return true;
    }
  }
  solutions.clear();
  return false;
}

bool PoisePlugin::searchPositionIK(
  const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, Numbers & solution, ErrorCode & error_code,
  const Options & options) const
{
  return find({ik_pose}, ik_seed_state, timeout, false, {}, solution, nullptr, error_code, options);
}

bool PoisePlugin::searchPositionIK(
  const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, const Numbers & consistency_limits,
  Numbers & solution, ErrorCode & error_code, const Options & options) const
{
  return find({ik_pose}, ik_seed_state, timeout, false, consistency_limits, solution, nullptr, error_code, options);
}

bool PoisePlugin::searchPositionIK(
  const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, Numbers & solution,
  const IKCallbackFn & solution_callback, ErrorCode & error_code, const Options & options) const
{
  return find({ik_pose}, ik_seed_state, timeout, false, {}, solution, solution_callback, error_code, options);
}

bool PoisePlugin::searchPositionIK(
  const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, const Numbers & consistency_limits,
  Numbers & solution, const IKCallbackFn & solution_callback, ErrorCode & error_code, const Options & options) const
{
  return find(
    {ik_pose}, ik_seed_state, timeout, false, consistency_limits, solution, solution_callback, error_code, options);
}

bool PoisePlugin::searchPositionIK(
  const std::vector<Pose> & ik_poses, const Numbers & ik_seed_state, double timeout, const Numbers & consistency_limits,
  Numbers & solution, const IKCallbackFn & solution_callback, ErrorCode & error_code, const Options & options,
  const moveit::core::RobotState *) const
{
  return find(
    ik_poses, ik_seed_state, timeout, false, consistency_limits, solution, solution_callback, error_code, options);
}

bool PoisePlugin::getPositionFK(
  const std::vector<std::string> & link_names, const Numbers & joint_angles, std::vector<Pose> & poses) const
{
  if (!search_ || joint_angles.size() != variables_.size()) {
    RCLCPP_ERROR(
      logger(), "Group '%s' has %zu variables, but there are %zu values", group_name_.c_str(), variables_.size(),
      joint_angles.size());
    return false;
  }
  Numbers joints(joints_.size());
  for (std::size_t k = 0; k < joints.size(); ++k) {
    joints[k] = joint_angles[joints_[k]];
  }
  const Numbers q = search_->chain.q(joints);
  poise::SolverWork work(search_->file);
  poses.resize(link_names.size());
  for (std::size_t k = 0; k < link_names.size(); ++k) {
    poise::Pose there;
    if (work.pose(q, search_->file.frame(link_names[k]), there) != PZ_OK) {
      RCLCPP_ERROR(logger(), "Group '%s': poise's file has no link '%s'", group_name_.c_str(), link_names[k].c_str());
      return false;
    }
    there = poise::pose(search_->chain.base.inverse() * poise::isometry(there));
    Pose & pose = poses[k];
    pose.position.x = there.x;
    pose.position.y = there.y;
    pose.position.z = there.z;
    pose.orientation.w = there.qw;
    pose.orientation.x = there.qx;
    pose.orientation.y = there.qy;
    pose.orientation.z = there.qz;
  }
  return true;
}
}  // namespace poise_kinematics

PLUGINLIB_EXPORT_CLASS(poise_kinematics::PoisePlugin, kinematics::KinematicsBase)
