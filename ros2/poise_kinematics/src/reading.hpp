// An exported solver, and what a group is in it.
#pragma once

#include "chain.hpp"

namespace poise_kinematics
{
struct Reading
{
  poise::Solver file;
  Chain chain;
};
}  // namespace poise_kinematics
