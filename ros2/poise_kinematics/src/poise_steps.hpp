// ros2_control's kinematics by a tracker that poise has exported, whose steps keep limits.
#pragma once

#include "chain.hpp"

#include <kinematics_interface/kinematics_interface.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace poise_kinematics
{
// For the one thread of its controller.  Nothing but initialize allocates.
class PoiseSteps : public kinematics_interface::KinematicsInterface
{
public:
  using Twist = Eigen::Matrix<double, 6, 1>;
  using Frame = Eigen::Matrix<double, 7, 1>;
  using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic>;
  using Inverse = Eigen::Matrix<double, Eigen::Dynamic, 6>;

  bool initialize(
    const std::string & robot_description,
    std::shared_ptr<rclcpp::node_interfaces::NodeParametersInterface> parameters_interface,
    const std::string & param_namespace) override;

  // One step of the tracker from joint_pos, towards where the delta would bring the link; delta_theta is what its
  // limits leave of that.  Where joint_pos is what was measured, the step begins where the last one led.
  bool convert_cartesian_deltas_to_joint_deltas(
    const Eigen::VectorXd & joint_pos, const Twist & delta_x, const std::string & link_name,
    Eigen::VectorXd & delta_theta) override;

  bool convert_joint_deltas_to_cartesian_deltas(
    const Eigen::VectorXd & joint_pos, const Eigen::VectorXd & delta_theta, const std::string & link_name,
    Twist & delta_x) override;

  bool calculate_link_transform(
    const Eigen::VectorXd & joint_pos, const std::string & link_name, Eigen::Isometry3d & transform) override;

  bool calculate_jacobian(
    const Eigen::VectorXd & joint_pos, const std::string & link_name, Jacobian & jacobian) override;

  bool calculate_jacobian_inverse(
    const Eigen::VectorXd & joint_pos, const std::string & link_name, Inverse & jacobian_inverse) override;

  // Overrides where there is something to override: the interface of Jazzy has no such method yet.
  bool calculate_frame_difference(Frame & x_a, Frame & x_b, double dt, Twist & delta_x);

private:
  // A link that stands still in the frame of a tip.
  struct Attached
  {
    std::size_t tip;
    Eigen::Isometry3d tip_in_link;
  };

  void set_up(
    const std::vector<std::string> & joints, const std::string & base, const std::vector<std::string> & tips);
  void attach();

  // The number of a link, once q_ is where the joints are; -1, and a message, where a question makes no sense.
  std::int64_t asked(const Eigen::VectorXd & joints, const std::string & link_name);

  std::optional<poise::Tracker> file_;  // none before it is initialized
  std::optional<poise::TrackerWork> work_;
  Chain chain_;
  std::vector<std::optional<Attached>> attached_;  // of each frame
  std::vector<double> q_, next_, targets_, poses_;
  poise::Jacobian columns_;  // of all joints of the file
  Jacobian jacobian_;
  double alpha_ = 0.0, scale_ = 1.0;
  bool measured_ = false;  // whether joint_pos is where the robot is, and not what it was told
};
}  // namespace poise_kinematics
