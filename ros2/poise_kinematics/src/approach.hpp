// A start that is brought as near to its targets as a box of the joints allows.
#pragma once

#include "reading.hpp"

#include <vector>

namespace poise_kinematics
{
// Damped Newton steps on the joints of a chain, from `q` within `lower` and `upper`, which are of the chain's joints.
// poise's file knows the limits of its robot alone: where fewer values are allowed, where a joint is to stay or no
// joint to go far, this looks for the nearest start that is a solution already, which pz_solve then only confirms.
void approach(
  const Reading & reading, poise::Work & work, const std::vector<double> & targets, const std::vector<double> & lower,
  const std::vector<double> & upper, std::vector<double> & q);
}  // namespace poise_kinematics
