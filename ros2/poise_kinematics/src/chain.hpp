// What the joints, the base and the tips of a group are in a file of poise's.
#pragma once

#include "pose.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace poise_kinematics
{
struct Chain
{
  std::vector<std::size_t> places;  // of each joint in poise's q
  std::vector<std::int64_t> tips;   // numbers of frames, in the order of the file's tasks
  Eigen::Isometry3d base;           // its pose in the file's root, in which poise has all poses
  std::vector<double> home;         // poise's q, where all other joints stay

  std::vector<double> q(const std::vector<double> & joints) const;
};

// Look up everything by name.  `base` may also be the `root` of the model, which needs no name in the file.  Raises
// std::runtime_error with a sentence: what the file lacks, and what would move that the group does not have.
Chain chain_of(
  const poise::Loaded & file, poise::Work & work, const std::vector<std::string> & joints, const std::string & base,
  const std::string & root, const std::vector<std::string> & tips);

// Which joints move a frame, by their places in q.
std::vector<bool> movers_of(const poise::Loaded & file, poise::Work & work, std::int64_t frame);

// The number of a frame; raises std::runtime_error.
std::int64_t frame_called(const poise::Loaded & file, const std::string & name);
}  // namespace poise_kinematics
