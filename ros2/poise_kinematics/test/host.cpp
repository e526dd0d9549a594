// Drives both plug-ins as MoveIt and a controller would: a command a line comes in, and its answer, a line, goes out.
// An answer begins with 1 or 0, for true and false, or with the error code that MoveIt would read.
#include <kinematics_interface/kinematics_interface.hpp>
#include <moveit/kinematics_base/kinematics_base.hpp>
#include <pluginlib/class_list_macros.hpp>

#include <iomanip>
#include <iostream>
#include <sstream>
#include <thread>

namespace
{
using Numbers = std::vector<double>;
using Pose = geometry_msgs::msg::Pose;

template <typename T>
std::vector<T> rest_of(std::istream & line)
{
  std::vector<T> found;
  for (T one; line >> one;) {
    found.push_back(one);
  }
  return found;
}

// So many numbers, after which others may stand.
Numbers some(std::istream & line)
{
  std::size_t count = 0;
  line >> count;
  Numbers found(count);
  for (double & one : found) {
    line >> one;
  }
  return found;
}

// x y z, then x y z w, as ROS has them.
std::vector<Pose> poses_of(const Numbers & numbers)
{
  std::vector<Pose> found(numbers.size() / 7);
  for (std::size_t k = 0; k < found.size(); ++k) {
    const double * at = &numbers[7 * k];
    found[k].position = {at[0], at[1], at[2]};
    found[k].orientation = {at[3], at[4], at[5], at[6]};
  }
  return found;
}

template <typename Numbers>
void put(const Numbers & numbers)
{
  for (const double one : numbers) {
    std::cout << ' ' << one;
  }
}

class Planner
{
public:
  bool answer(const std::string & command, std::istream & line)
  {
    if (command == "root") {
      line >> robot_.frame;
    } else if (command == "joint") {
      const std::string name = another_joint(line);
      moveit::core::VariableBounds & bounds = robot_.bounds[name];
      bounds.position_bounded_ = static_cast<bool>(line >> bounds.min_position_ >> bounds.max_position_);
    } else if (command == "mimic") {
      moveit::core::JointModel & joint = *group().joints[another_joint(line)];
      std::string master;
      line >> master >> joint.factor >> joint.offset;
      joint.mimic = group().joints[master].get();
    } else if (command == "parameter") {
      std::string name;
      line >> name;
      node_->get_node_parameters_interface()->table["robot_description_kinematics.arm." + name] =
        rest_of<std::string>(line);
    } else if (command == "initialize") {
      std::string base;
      line >> base;
      plugin_ = pluginlib::classes<kinematics::KinematicsBase>().at("poise_kinematics::PoisePlugin")();
      std::cout << plugin_->initialize(node_, robot_, "arm", base, rest_of<std::string>(line), 0.1);
    } else if (command == "redundant") {
      std::cout << plugin_->setRedundantJoints(rest_of<unsigned int>(line));
    } else if (command == "timeout") {
      line >> timeout_;
    } else if (command == "consistency") {
      consistency_ = rest_of<double>(line);
    } else if (command == "approximate") {
      line >> options_.return_approximate_solution;
    } else if (command == "refuse") {
      line >> refuse_;
    } else if (command == "names") {
      std::cout << plugin_->supportsGroup(robot_.getJointModelGroup("arm"));
      for (const auto & names : {plugin_->getJointNames(), plugin_->getLinkNames(), plugin_->getTipFrames()}) {
        for (const std::string & name : names) {
          std::cout << ' ' << name;
        }
      }
    } else if (command == "get" || command == "search" || command == "threads") {
      solve(command, line);
    } else if (command == "forward") {
      std::string link;
      line >> link;
      std::vector<Pose> poses;
      std::cout << plugin_->getPositionFK({link}, rest_of<double>(line), poses);
      for (const Pose & pose : poses) {
        put(Numbers{pose.position.x, pose.position.y, pose.position.z, pose.orientation.x, pose.orientation.y,
                    pose.orientation.z, pose.orientation.w});
      }
    } else {
      return false;
    }
    return true;
  }

private:
  moveit::core::JointModelGroup & group() { return robot_.groups["arm"]; }

  std::string another_joint(std::istream & line)
  {
    std::string name;
    line >> name;
    group().names.push_back(name);
    group().joints[name] = std::make_unique<moveit::core::JointModel>(name);
    return name;
  }

  // Every overload in its turn: which one a question needs, its poses, limits and callback say.
  int search(const std::vector<Pose> & poses, const Numbers & seed, Numbers & solution) const
  {
    moveit_msgs::msg::MoveItErrorCodes code;
    int refuse = refuse_;
    const auto callback = [&refuse](const Pose &, const Numbers &, moveit_msgs::msg::MoveItErrorCodes & error) {
      error.val = refuse-- > 0 ? error.NO_IK_SOLUTION : error.SUCCESS;
    };
    const Pose & one = poses.front();
    if (poses.size() > 1) {
      plugin_->searchPositionIK(
        poses, seed, timeout_, consistency_, solution, callback, kinematics::KinematicsBase::IKCostFn(), code,
        options_);
    } else if (refuse_ && !consistency_.empty()) {
      plugin_->searchPositionIK(one, seed, timeout_, consistency_, solution, callback, code, options_);
    } else if (refuse_) {
      plugin_->searchPositionIK(one, seed, timeout_, solution, callback, code, options_);
    } else if (!consistency_.empty()) {
      plugin_->searchPositionIK(one, seed, timeout_, consistency_, solution, code, options_);
    } else {
      plugin_->searchPositionIK(one, seed, timeout_, solution, code, options_);
    }
    return code.val;
  }

  void solve(const std::string & command, std::istream & line)
  {
    const std::vector<Pose> poses = poses_of(some(line));
    const Numbers seed = rest_of<double>(line);
    Numbers solution;
    if (command == "search") {
      std::cout << search(poses, seed, solution);
    } else if (command == "threads") {
      std::vector<Numbers> found(8);
      std::vector<std::thread> threads;
      for (Numbers & own : found) {
        threads.emplace_back([this, &poses, &seed, &own] { search(poses, seed, own); });
      }
      bool same = true;
      for (std::size_t k = 0; k < threads.size(); ++k) {
        threads[k].join();
        same = same && found[k] == found[0];
      }
      std::cout << same;
      solution = found[0];
    } else if (poses.size() == 1) {
      moveit_msgs::msg::MoveItErrorCodes code;
      plugin_->getPositionIK(poses[0], seed, solution, code, options_);
      std::cout << code.val;
    } else {
      std::vector<Numbers> solutions;
      kinematics::KinematicsResult result;
      std::cout << plugin_->getPositionIK(poses, seed, solutions, result, options_);
      solution = solutions.empty() ? Numbers() : solutions[0];
    }
    put(solution);
  }

  rclcpp::Node::SharedPtr node_ = std::make_shared<rclcpp::Node>();
  moveit::core::RobotModel robot_;
  std::shared_ptr<kinematics::KinematicsBase> plugin_;
  Numbers consistency_;
  double timeout_ = 1.0;
  int refuse_ = 0;
  kinematics::KinematicsQueryOptions options_;
};

class Controller
{
public:
  bool answer(const std::string & command, std::istream & line)
  {
    if (command == "setting") {
      std::string name;
      line >> name;
      parameters_->table["kinematics." + name] = rest_of<std::string>(line);
      return true;
    }
    if (command == "start") {
      plugin_ =
        pluginlib::classes<kinematics_interface::KinematicsInterface>().at("poise_kinematics::PoiseSteps")();
      std::cout << plugin_->initialize("", parameters_, "kinematics");
      return true;
    }
    if (command == "difference") {
      Numbers given = rest_of<double>(line);
      Eigen::Matrix<double, 7, 1> a(&given[0]), b(&given[7]);
      Eigen::Matrix<double, 6, 1> found;
      std::cout << plugin_->calculate_frame_difference(a, b, given[14], found);
      put(found);
      return true;
    }
    if (
      command != "step" && command != "back" && command != "transform" && command != "columns" &&
      command != "inverse") {
      return false;
    }
    std::string link;
    line >> link;
    const Numbers at = some(line), by = rest_of<double>(line);
    const Eigen::VectorXd q = Eigen::Map<const Eigen::VectorXd>(at.data(), static_cast<Eigen::Index>(at.size()));
    const Eigen::VectorXd delta = Eigen::Map<const Eigen::VectorXd>(by.data(), static_cast<Eigen::Index>(by.size()));
    if (command == "step") {
      Eigen::VectorXd found(q.size());
      std::cout << plugin_->convert_cartesian_deltas_to_joint_deltas(q, delta, link, found);
      put(found);
    } else if (command == "back") {
      Eigen::Matrix<double, 6, 1> found;
      std::cout << plugin_->convert_joint_deltas_to_cartesian_deltas(q, delta, link, found);
      put(found);
    } else if (command == "transform") {
      Eigen::Isometry3d found;
      std::cout << plugin_->calculate_link_transform(q, link, found);
      put(found.matrix().reshaped<Eigen::RowMajor>());
    } else if (command == "columns") {
      Eigen::Matrix<double, 6, Eigen::Dynamic> found;
      std::cout << plugin_->calculate_jacobian(q, link, found);
      put(found.reshaped<Eigen::RowMajor>());
    } else {
      Eigen::Matrix<double, Eigen::Dynamic, 6> found;
      std::cout << plugin_->calculate_jacobian_inverse(q, link, found);
      put(found.reshaped<Eigen::RowMajor>());
    }
    return true;
  }

private:
  std::shared_ptr<rclcpp::node_interfaces::NodeParametersInterface> parameters_ =
    std::make_shared<rclcpp::node_interfaces::NodeParametersInterface>();
  std::shared_ptr<kinematics_interface::KinematicsInterface> plugin_;
};
}  // namespace

int main()
{
  Planner planner;
  Controller controller;
  std::cout << std::setprecision(17);
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    std::string command;
    line >> command;
    if (!planner.answer(command, line) && !controller.answer(command, line)) {
      std::cerr << "no command of the host: " << command << '\n';
      return 2;
    }
    std::cout << std::endl;
  }
}
