// A file that Solver.export or Tracker.export of poise has written, loaded once for all threads.
#pragma once

#include <poise.h>

#include <cstdint>
#include <memory>
#include <string>

namespace poise_kinematics
{
class Prepared
{
public:
  // Raises std::runtime_error with a sentence: a file that cannot be read, or is none of poise's.
  explicit Prepared(const std::string & path);

  const std::string & path() const { return path_; }
  const pz_solver * solver() const { return solver_; }
  std::int64_t count(pz_what what) const { return pz_count(solver_, what); }

  // The number of what has this name; -1 where nothing has.
  std::int64_t find(pz_what what, const std::string & name) const;

private:
  std::string path_;
  std::unique_ptr<char[]> memory_;
  const pz_solver * solver_ = nullptr;
};

// Work for one thread.  To begin some takes a microsecond, so that each call has its own and nothing is locked.
class Work
{
public:
  explicit Work(const Prepared & file)
  : memory_(new char[pz_work_size(file.solver())]), work_(pz_begin(file.solver(), memory_.get()))
  {
  }

  operator pz_work *() const { return work_; }

private:
  std::unique_ptr<char[]> memory_;
  pz_work * work_;
};
}  // namespace poise_kinematics
