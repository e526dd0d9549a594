// MoveIt 2's kinematics by a solver that poise has exported.
#pragma once

#include "reading.hpp"

#if __has_include(<moveit/kinematics_base/kinematics_base.hpp>)
#include <moveit/kinematics_base/kinematics_base.hpp>
#include <moveit/robot_model/robot_model.hpp>
#else  // Humble
#include <moveit/kinematics_base/kinematics_base.h>
#include <moveit/robot_model/robot_model.h>
#endif

#include <optional>
#include <string>
#include <vector>

namespace poise_kinematics
{
// All methods but initialize may be called from any number of threads.
class PoisePlugin : public kinematics::KinematicsBase
{
public:
  using Pose = geometry_msgs::msg::Pose;
  using ErrorCode = moveit_msgs::msg::MoveItErrorCodes;
  using Options = kinematics::KinematicsQueryOptions;
  using Numbers = std::vector<double>;

  // What these leave to the base, such as the call with a cost function, which poise has none of, stays visible.
  using KinematicsBase::getPositionIK;
  using KinematicsBase::searchPositionIK;

  bool initialize(
    const rclcpp::Node::SharedPtr & node, const moveit::core::RobotModel & robot_model, const std::string & group_name,
    const std::string & base_frame, const std::vector<std::string> & tip_frames, double search_discretization) override;

  bool getPositionIK(
    const Pose & ik_pose, const Numbers & ik_seed_state, Numbers & solution, ErrorCode & error_code,
    const Options & options = Options()) const override;

  bool getPositionIK(
    const std::vector<Pose> & ik_poses, const Numbers & ik_seed_state, std::vector<Numbers> & solutions,
    kinematics::KinematicsResult & result, const Options & options) const override;

  bool searchPositionIK(
    const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, Numbers & solution, ErrorCode & error_code,
    const Options & options = Options()) const override;

  bool searchPositionIK(
    const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, const Numbers & consistency_limits,
    Numbers & solution, ErrorCode & error_code, const Options & options = Options()) const override;

  bool searchPositionIK(
    const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, Numbers & solution,
    const IKCallbackFn & solution_callback, ErrorCode & error_code, const Options & options = Options()) const override;

  bool searchPositionIK(
    const Pose & ik_pose, const Numbers & ik_seed_state, double timeout, const Numbers & consistency_limits,
    Numbers & solution, const IKCallbackFn & solution_callback, ErrorCode & error_code,
    const Options & options = Options()) const override;

  bool searchPositionIK(
    const std::vector<Pose> & ik_poses, const Numbers & ik_seed_state, double timeout,
    const Numbers & consistency_limits, Numbers & solution, const IKCallbackFn & solution_callback,
    ErrorCode & error_code, const Options & options = Options(),
    const moveit::core::RobotState * context_state = nullptr) const override;

  bool getPositionFK(
    const std::vector<std::string> & link_names, const Numbers & joint_angles,
    std::vector<Pose> & poses) const override;

  const std::vector<std::string> & getJointNames() const override { return variables_; }
  const std::vector<std::string> & getLinkNames() const override { return tip_frames_; }

  // Any group whose joints have one variable each, of which the file has all; it need not be a chain.
  bool supportsGroup(
    const moveit::core::JointModelGroup * group, std::string * error_text_out = nullptr) const override;

private:
  struct Box;

  // A variable that follows another has no place in poise's files.
  struct Mimic
  {
    std::size_t variable, master;
    double factor, offset;
  };

  void take_variables(const moveit::core::JointModelGroup & group);
  Reading reading_of(const std::string & path) const;

  // Where joints may go from a seed, both of all variables; none where no value is left to one of them.
  std::optional<Box> box_of(const Numbers & seed, const Numbers & consistency_limits) const;

  // One search for all tips; only from the seed itself where `once`.
  bool find(
    const std::vector<Pose> & poses, const Numbers & seed, double timeout, bool once,
    const Numbers & consistency_limits, Numbers & solution, const IKCallbackFn & callback, ErrorCode & error_code,
    const Options & options) const;

  std::optional<Reading> search_;       // none before it is initialized
  std::optional<Reading> nearest_;      // for searches from the seed alone
  std::vector<std::string> variables_;  // of the group, in its order
  std::vector<std::size_t> joints_;     // those of the variables that follow no other
  std::vector<Mimic> mimics_;           // and those that do
  Numbers lower_, upper_;               // of the joints: the file's limits and MoveIt's
};
}  // namespace poise_kinematics
