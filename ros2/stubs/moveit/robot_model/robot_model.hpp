// A stub of MoveIt's robot model for poise's tests: a group as lists of names, which a test fills.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace moveit::core
{
class RobotState;

struct VariableBounds
{
  double min_position_ = 0.0, max_position_ = 0.0;
  bool position_bounded_ = false;
};

class JointModel
{
public:
  explicit JointModel(std::string name) : name_(std::move(name)) {}
  const std::string & getName() const { return name_; }
  const JointModel * getMimic() const { return mimic; }
  double getMimicFactor() const { return factor; }
  double getMimicOffset() const { return offset; }

  const JointModel * mimic = nullptr;
  double factor = 1.0, offset = 0.0;

private:
  std::string name_;
};

class JointModelGroup
{
public:
  const std::vector<std::string> & getVariableNames() const { return names; }
  const JointModel * getJointModel(const std::string & name) const { return joints.at(name).get(); }
  bool isSingleDOFJoints() const { return single; }

  std::vector<std::string> names;
  std::map<std::string, std::unique_ptr<JointModel>> joints;
  bool single = true;
};

class RobotModel
{
public:
  const JointModelGroup * getJointModelGroup(const std::string & name) const
  {
    const auto found = groups.find(name);
    return found == groups.end() ? nullptr : &found->second;
  }
  const VariableBounds & getVariableBounds(const std::string & variable) const { return bounds.at(variable); }
  const std::string & getModelFrame() const { return frame; }

  std::map<std::string, JointModelGroup> groups;
  std::map<std::string, VariableBounds> bounds;
  std::string frame;
};

using RobotModelConstPtr = std::shared_ptr<const RobotModel>;
}  // namespace moveit::core
