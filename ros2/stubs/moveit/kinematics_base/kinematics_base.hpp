// A stub of MoveIt's kinematics::KinematicsBase for poise's tests: its virtual methods and what the plug-in inherits.
#pragma once

#include <geometry_msgs/msg/pose.hpp>
#include <moveit/robot_model/robot_model.hpp>
#include <moveit_msgs/msg/move_it_error_codes.hpp>
#include <rclcpp/logging.hpp>
#include <rclcpp/node.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kinematics
{
namespace DiscretizationMethods
{
enum DiscretizationMethod
{
  NO_DISCRETIZATION = 1,
  ALL_DISCRETIZED,
  SOME_DISCRETIZED,
  ALL_RANDOM_SAMPLED,
  SOME_RANDOM_SAMPLED
};
}  // namespace DiscretizationMethods
using DiscretizationMethod = DiscretizationMethods::DiscretizationMethod;

namespace KinematicErrors
{
enum KinematicError
{
  OK = 1,
  UNSUPORTED_DISCRETIZATION_REQUESTED,
  DISCRETIZATION_NOT_INITIALIZED,
  MULTIPLE_TIPS_NOT_SUPPORTED,
  EMPTY_TIP_POSES,
  IK_SEED_OUTSIDE_LIMITS,
  SOLVER_NOT_ACTIVE,
  NO_SOLUTION
};
}  // namespace KinematicErrors
using KinematicError = KinematicErrors::KinematicError;

struct KinematicsQueryOptions
{
  bool lock_redundant_joints = false;
  bool return_approximate_solution = false;
  DiscretizationMethod discretization_method = DiscretizationMethods::NO_DISCRETIZATION;
};

struct KinematicsResult
{
  KinematicError kinematic_error;
  double solution_percentage;
};

class KinematicsBase
{
public:
  using Pose = geometry_msgs::msg::Pose;
  using Numbers = std::vector<double>;
  using Codes = moveit_msgs::msg::MoveItErrorCodes;
  using Options = KinematicsQueryOptions;
  using IKCallbackFn = std::function<void(const Pose &, const Numbers &, Codes &)>;
  using IKCostFn = std::function<double(
    const Pose &, const moveit::core::RobotState &, const moveit::core::JointModelGroup *, const Numbers &)>;

  virtual ~KinematicsBase() = default;

  virtual bool initialize(
    const rclcpp::Node::SharedPtr & node, const moveit::core::RobotModel & robot_model, const std::string & group_name,
    const std::string & base_frame, const std::vector<std::string> & tip_frames, double search_discretization) = 0;

  virtual bool getPositionIK(
    const Pose & ik_pose, const Numbers & ik_seed_state, Numbers & solution, Codes & error_code,
    const Options & options = Options()) const = 0;
  virtual bool getPositionIK(
    const std::vector<Pose> & ik_poses, const Numbers & ik_seed_state, std::vector<Numbers> & solutions,
    KinematicsResult & result, const Options & options) const = 0;

  virtual bool searchPositionIK(
    const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, Numbers & solution, Codes & error_code,
    const Options & options = Options()) const = 0;
  virtual bool searchPositionIK(
    const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, const Numbers & consistency_limits,
    Numbers & solution, Codes & error_code, const Options & options = Options()) const = 0;
  virtual bool searchPositionIK(
    const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, Numbers & solution,
    const IKCallbackFn & solution_callback, Codes & error_code, const Options & options = Options()) const = 0;
  virtual bool searchPositionIK(
    const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, const Numbers & consistency_limits,
    Numbers & solution, const IKCallbackFn & solution_callback, Codes & error_code,
    const Options & options = Options()) const = 0;
  virtual bool searchPositionIK(
    const std::vector<Pose> & ik_poses, const Numbers & ik_seed_state, double timeout,
    const Numbers & consistency_limits, Numbers & solution, const IKCallbackFn & solution_callback, Codes & error_code,
    const Options & options = Options(), const moveit::core::RobotState * context_state = nullptr) const = 0;
  virtual bool searchPositionIK(
    const std::vector<Pose> & ik_poses, const Numbers & ik_seed_state, double timeout,
    const Numbers & consistency_limits, Numbers & solution, const IKCallbackFn & solution_callback,
    const IKCostFn & cost_function, Codes & error_code, const Options & options = Options(),
    const moveit::core::RobotState * context_state = nullptr) const
  {
    return !cost_function && searchPositionIK(
                               ik_poses, ik_seed_state, timeout, consistency_limits, solution, solution_callback,
                               error_code, options, context_state);
  }

  virtual bool getPositionFK(
    const std::vector<std::string> & link_names, const Numbers & joint_angles, std::vector<Pose> & poses) const = 0;
  virtual const std::vector<std::string> & getJointNames() const = 0;
  virtual const std::vector<std::string> & getLinkNames() const = 0;
  virtual const std::vector<std::string> & getTipFrames() const { return tip_frames_; }
  virtual bool supportsGroup(
    const moveit::core::JointModelGroup * jmg, std::string * error_text_out = nullptr) const = 0;

  virtual bool setRedundantJoints(const std::vector<unsigned int> & redundant_joint_indices)
  {
    for (const unsigned int index : redundant_joint_indices) {
      if (index >= getJointNames().size()) {
        return false;
      }
    }
    redundant_joint_indices_ = redundant_joint_indices;
    return true;
  }
  void setDefaultTimeout(double timeout) { default_timeout_ = timeout; }

protected:
  void storeValues(
    const moveit::core::RobotModel & robot_model, const std::string & group_name, const std::string & base_frame,
    const std::vector<std::string> & tip_frames, double)
  {
    robot_model_ = moveit::core::RobotModelConstPtr(&robot_model, [](const moveit::core::RobotModel *) {});
    group_name_ = group_name;
    base_frame_ = base_frame;
    tip_frames_ = tip_frames;
  }

  rclcpp::Node::SharedPtr node_;
  moveit::core::RobotModelConstPtr robot_model_;
  std::string group_name_, base_frame_;
  std::vector<std::string> tip_frames_;
  double default_timeout_ = 1.0;
  std::vector<unsigned int> redundant_joint_indices_;
};
}  // namespace kinematics
