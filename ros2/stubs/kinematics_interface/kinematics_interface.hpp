// A stub of kinematics_interface::KinematicsInterface for poise's tests: its virtual methods.
#pragma once

#include <rclcpp/logging.hpp>
#include <rclcpp/node_interfaces/node_parameters_interface.hpp>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include <memory>
#include <string>

namespace kinematics_interface
{
class KinematicsInterface
{
public:
  virtual ~KinematicsInterface() = default;

  virtual bool initialize(
    const std::string & robot_description,
    std::shared_ptr<rclcpp::node_interfaces::NodeParametersInterface> parameters_interface,
    const std::string & param_namespace) = 0;
  virtual bool convert_cartesian_deltas_to_joint_deltas(
    const Eigen::VectorXd & joint_pos, const Eigen::Matrix<double, 6, 1> & delta_x, const std::string & link_name,
    Eigen::VectorXd & delta_theta) = 0;
  virtual bool convert_joint_deltas_to_cartesian_deltas(
    const Eigen::VectorXd & joint_pos, const Eigen::VectorXd & delta_theta, const std::string & link_name,
    Eigen::Matrix<double, 6, 1> & delta_x) = 0;
  virtual bool calculate_link_transform(
    const Eigen::VectorXd & joint_pos, const std::string & link_name, Eigen::Isometry3d & transform) = 0;
  virtual bool calculate_jacobian(
    const Eigen::VectorXd & joint_pos, const std::string & link_name,
    Eigen::Matrix<double, 6, Eigen::Dynamic> & jacobian) = 0;
  virtual bool calculate_jacobian_inverse(
    const Eigen::VectorXd & joint_pos, const std::string & link_name,
    Eigen::Matrix<double, Eigen::Dynamic, 6> & jacobian_inverse) = 0;
  virtual bool calculate_frame_difference(
    Eigen::Matrix<double, 7, 1> & x_a, Eigen::Matrix<double, 7, 1> & x_b, double dt,
    Eigen::Matrix<double, 6, 1> & delta_x) = 0;
};
}  // namespace kinematics_interface
