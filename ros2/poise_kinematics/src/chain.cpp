#include "chain.hpp"

#include "pose.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace poise_kinematics
{
namespace
{
std::string coordinate(const Prepared & file, std::size_t place)
{
  return pz_name(file.solver(), PZ_COORDINATE, static_cast<std::int64_t>(place));
}

Eigen::Isometry3d at_home(const Prepared & file, std::int64_t frame)
{
  double pose[7];
  pz_pose(Work(file), pz_home(file.solver()), frame, pose);
  return pose_of(pose);
}
}  // namespace

std::vector<double> Chain::q(const double * joints) const
{
  const double * home = pz_home(file->solver());
  std::vector<double> found(home, home + file->count(PZ_NQ));
  for (std::size_t k = 0; k < places.size(); ++k) {
    found[places[k]] = joints[k];
  }
  return found;
}

std::int64_t frame_called(const Prepared & file, const std::string & name)
{
  const std::int64_t frame = file.find(PZ_FRAME, name);
  if (frame < 0) {
    throw std::runtime_error("'" + file.path() + "' has no frame '" + name + "'");
  }
  return frame;
}

// A joint that carries a frame turns or shifts it at every configuration, so that home tells of all.
std::vector<bool> movers_of(const Prepared & file, std::int64_t frame)
{
  const auto count = static_cast<std::size_t>(file.count(PZ_NV));
  std::vector<double> jacobian(6 * count);
  pz_jacobian(Work(file), pz_home(file.solver()), frame, jacobian.data());
  std::vector<bool> moves(count);
  for (std::size_t k = 0; k < jacobian.size(); ++k) {
    moves[k % count] = moves[k % count] || std::abs(jacobian[k]) > 1e-12;
  }
  return moves;
}

Chain chain_of(
  std::shared_ptr<const Prepared> from, const std::vector<std::string> & joints, const std::string & base,
  const std::string & root, const std::vector<std::string> & tips)
{
  const Prepared & file = *from;
  const std::string in = "'" + file.path() + "' ";
  if (file.count(PZ_NQ) != file.count(PZ_NV)) {
    throw std::runtime_error(in + "has a floating or spherical joint; lock it before the export: model.lock(...)");
  }
  Chain chain;
  chain.file = std::move(from);
  std::vector<bool> ours(static_cast<std::size_t>(file.count(PZ_NQ)));
  for (const std::string & joint : joints) {
    const std::int64_t place = file.find(PZ_COORDINATE, joint);
    if (place < 0) {
      throw std::runtime_error(in + "has no joint '" + joint + "'");
    }
    chain.places.push_back(static_cast<std::size_t>(place));
    ours[chain.places.back()] = true;
  }
  chain.base.setIdentity();
  if (base != root || file.find(PZ_FRAME, base) >= 0) {
    const std::int64_t frame = frame_called(file, base);
    chain.base = at_home(file, frame);
    const std::vector<bool> moves = movers_of(file, frame);
    for (std::size_t k = 0; k < ours.size(); ++k) {
      if (moves[k] && ours[k]) {
        throw std::runtime_error(in + "has the base '" + base + "' moved by '" + coordinate(file, k) + "'");
      }
    }
  }
  for (const std::string & tip : tips) {
    chain.tips.push_back(frame_called(file, tip));
    const std::vector<bool> moves = movers_of(file, chain.tips.back());
    for (std::size_t k = 0; k < ours.size(); ++k) {
      if (moves[k] && !ours[k]) {
        const std::string other = coordinate(file, k);
        throw std::runtime_error(
          in + "moves '" + tip + "' with '" + other + "', which the group lacks; lock it before the export: model.lock(" +
          other + "=...)");
      }
    }
  }
  if (file.count(PZ_TASK) != static_cast<std::int64_t>(tips.size())) {
    throw std::runtime_error(
      in + "is of " + std::to_string(file.count(PZ_TASK)) + " tasks, but there are " + std::to_string(tips.size()) +
      " tips; name one for each task in the parameter 'tips'");
  }
  return chain;
}
}  // namespace poise_kinematics
