#include "chain.hpp"

#include <cmath>
#include <stdexcept>

namespace poise_kinematics
{
namespace
{
std::string coordinate(const poise::Loaded & file, std::size_t place)
{
  return file.name(PZ_COORDINATE, static_cast<std::int64_t>(place));
}
}  // namespace

std::vector<double> Chain::q(const std::vector<double> & joints) const
{
  std::vector<double> found = home;
  for (std::size_t k = 0; k < places.size(); ++k) {
    found[places[k]] = joints[k];
  }
  return found;
}

std::int64_t frame_called(const poise::Loaded & file, const std::string & name)
{
  const std::int64_t frame = file.frame(name);
  if (frame < 0) {
    throw std::runtime_error("poise's file has no frame '" + name + "'");
  }
  return frame;
}

// A joint that carries a frame turns or shifts it at every configuration, so that home tells of all.
std::vector<bool> movers_of(const poise::Loaded & file, poise::Work & work, std::int64_t frame)
{
  std::vector<double> jacobian(6 * file.nv());
  work.jacobian(file.home(), frame, jacobian);
  std::vector<bool> moves(file.nv());
  for (std::size_t k = 0; k < jacobian.size(); ++k) {
    moves[k % moves.size()] = moves[k % moves.size()] || std::abs(jacobian[k]) > 1e-12;
  }
  return moves;
}

Chain chain_of(
  const poise::Loaded & file, poise::Work & work, const std::vector<std::string> & joints, const std::string & base,
  const std::string & root, const std::vector<std::string> & tips)
{
  if (file.nq() != file.nv()) {
    throw std::runtime_error(
      "poise's file has a floating or spherical joint; lock it before the export: model.lock(...)");
  }
  Chain chain;
  chain.home.assign(file.home().begin(), file.home().end());
  std::vector<bool> ours(file.nq());
  for (const std::string & joint : joints) {
    const std::int64_t place = file.number(PZ_COORDINATE, joint);
    if (place < 0) {
      throw std::runtime_error("poise's file has no joint '" + joint + "'");
    }
    chain.places.push_back(static_cast<std::size_t>(place));
    ours[chain.places.back()] = true;
  }
  chain.base.setIdentity();
  if (base != root || file.frame(base) >= 0) {
    const std::int64_t frame = frame_called(file, base);
    poise::Pose pose;
    work.pose(file.home(), frame, pose);
    chain.base = poise::isometry(pose);
    const std::vector<bool> moves = movers_of(file, work, frame);
    for (std::size_t k = 0; k < ours.size(); ++k) {
      if (moves[k] && ours[k]) {
        throw std::runtime_error("the base '" + base + "' is moved by '" + coordinate(file, k) + "'");
      }
    }
  }
  for (const std::string & tip : tips) {
    chain.tips.push_back(frame_called(file, tip));
    const std::vector<bool> moves = movers_of(file, work, chain.tips.back());
    for (std::size_t k = 0; k < ours.size(); ++k) {
      if (moves[k] && !ours[k]) {
        const std::string other = coordinate(file, k);
        throw std::runtime_error(
          "'" + tip + "' is moved by '" + other + "', which the group lacks; lock it before the export: model.lock(" +
          other + "=...)");
      }
    }
  }
  if (file.count(PZ_TASK) != tips.size()) {
    throw std::runtime_error(
      "poise's file is of " + std::to_string(file.count(PZ_TASK)) + " tasks, but there are " +
      std::to_string(tips.size()) + " tips; name one for each task in the parameter 'tips'");
  }
  for (std::size_t k = 0; k < tips.size(); ++k) {
    const std::string led = file.name(PZ_TASK, static_cast<std::int64_t>(k));
    if (led != tips[k]) {
      throw std::runtime_error(
        "task " + std::to_string(k + 1) + " of poise's file leads '" + led + "', not '" + tips[k] +
        "'; name the tips in this order");
    }
  }
  return chain;
}
}  // namespace poise_kinematics
