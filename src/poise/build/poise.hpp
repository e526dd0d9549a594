/* libpoise for C++17 and later: the functions of poise.h, as objects that own their memory.

     poise::Solver arm("arm.poise");   // throws std::runtime_error; shared by threads
     poise::SolverWork work(arm);      // one for each thread
     std::vector<double> q(arm.nq());
     poise::Status status = work.solve(poise::Pose{0.4, 0.1, 0.5, 0, 1, 0, 0}, arm.home(), q);

   What is loaded and begun allocates no more, and throws nothing: all later calls return a status.  Numbers come as
   anything that lies in a row and has data() and size(): arrays, std::vector, std::span, vectors of Eigen, a Pose; what
   is not of the right length is PZ_BAD_ARGUMENT, and nothing, {}, stands for NULL in poise.h.  After <Eigen/Geometry>
   pose() makes a Pose of an Isometry3d, isometry() the reverse, and a Jacobian is a matrix that jacobian() fills. */

#ifndef POISE_HPP
#define POISE_HPP
#include "poise.h"
#include <chrono>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace poise {
using Status = pz_status;
using Clock = std::chrono::steady_clock;
inline const char *message(Status status) noexcept { return pz_message(status); }

/* Whether the numbers of a thing lie in a row: of Eigen a vector without gaps, or a whole matrix by rows. */
template <class Of, class = void> struct in_a_row : std::true_type {};
template <class Of>
struct in_a_row<Of, std::void_t<decltype(Of::IsVectorAtCompileTime), typename Of::PlainObject>>
    : std::bool_constant<(Of::IsVectorAtCompileTime && Of::InnerStrideAtCompileTime == 1) ||
                         (Of::IsRowMajor && std::is_same_v<Of, typename Of::PlainObject>)> {};

/* Numbers in a row that somebody else owns; a std::span is made of it, and it of one. */
template <class T> class View {
public:
  constexpr View() noexcept = default;
  constexpr View(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <std::size_t N> constexpr View(T (&array)[N]) noexcept : data_(array), size_(N) {}
  template <class Of, class Bare = std::remove_cv_t<std::remove_reference_t<Of>>,
            class = std::enable_if_t<!std::is_same_v<Bare, View> && in_a_row<Bare>::value &&
                                     std::is_convertible_v<decltype(std::declval<Of &>().data()), T *>>>
  constexpr View(Of &&of) noexcept : data_(of.data()), size_(static_cast<std::size_t>(of.size())) {}
  constexpr T *data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr T *begin() const noexcept { return data_; }
  constexpr T *end() const noexcept { return data_ + size_; }
  constexpr T &operator[](std::size_t place) const noexcept { return data_[place]; }

private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};

using Numbers = View<const double>;
using Room = View<double>; /* where numbers are written */

/* A pose: metres, then a quaternion, scalar first. */
struct Pose {
  double x = 0, y = 0, z = 0, qw = 1, qx = 0, qy = 0, qz = 0;
  double *data() noexcept { return &x; }
  const double *data() const noexcept { return &x; }
  static constexpr std::size_t size() noexcept { return 7; }
};
static_assert(sizeof(Pose) == 7 * sizeof(double) && std::is_standard_layout_v<Pose>, "seven numbers in a row");

/* What was loaded: read-only, so that any number of threads share it; a copy is the same one. */
class Loaded {
public:
  std::size_t count(pz_what what) const noexcept { return static_cast<std::size_t>(pz_count(get(), what)); }
  std::size_t nq() const noexcept { return count(PZ_NQ); }
  std::size_t nv() const noexcept { return count(PZ_NV); }
  const char *name(pz_what what, std::int64_t number) const noexcept { return pz_name(get(), what, number); }
  /* The number of what has this name, the first of several; -1 where nothing has, which all calls refuse. */
  std::int64_t number(pz_what what, std::string_view name_) const noexcept {
    for (std::int64_t i = 0; const char *found = name(what, i); i++)
      if (name_ == found) return i;
    return -1;
  }
  std::int64_t frame(std::string_view name_) const noexcept { return number(PZ_FRAME, name_); }
  std::int64_t obstacle(std::string_view name_) const noexcept { return number(PZ_OBSTACLE, name_); }
  Numbers lower() const noexcept { return {pz_lower(get()), nq()}; }
  Numbers upper() const noexcept { return {pz_upper(get()), nq()}; }
  Numbers home() const noexcept { return {pz_home(get()), nq()}; }
  Numbers targets() const noexcept { return {pz_targets(get()), count(PZ_TARGET)}; }
  const pz_solver *get() const noexcept { return solver_.get(); }

protected:
  Loaded(const void *file, std::size_t bytes, bool tracker) { load(file, bytes, tracker, "the bytes"); }
  Loaded(const std::string &path, bool tracker) {
    const std::ifstream stream(path, std::ios::binary);
    std::ostringstream read;
    if (!stream.is_open() || (read << stream.rdbuf()).bad()) throw std::runtime_error(path + ": the file cannot be read");
    const std::string file = read.str();
    load(file.data(), file.size(), tracker, path);
  }

private:
  std::shared_ptr<const pz_solver> solver_;
  void load(const void *file, std::size_t bytes, bool tracker, const std::string &called) {
    const std::size_t need = pz_size(file, bytes);
    const std::shared_ptr<char> memory(new char[need + 1], std::default_delete<char[]>());
    const pz_solver *made = nullptr;
    Status status = pz_load(file, bytes, memory.get(), &made);
    if (status == PZ_OK && (pz_is_tracker(made) != 0) != tracker) status = tracker ? PZ_NO_TRACKER : PZ_NO_SOLVER;
    if (status != PZ_OK) throw std::runtime_error(called + ": " + message(status));
    solver_ = std::shared_ptr<const pz_solver>(memory, made);
  }
};

/* What `Solver.export` wrote, and what `Tracker.export` did. */
struct Solver : Loaded {
  explicit Solver(const std::string &path) : Loaded(path, false) {}
  Solver(const void *file, std::size_t bytes) : Loaded(file, bytes, false) {}
};
struct Tracker : Loaded {
  explicit Tracker(const std::string &path) : Loaded(path, true) {}
  Tracker(const void *file, std::size_t bytes) : Loaded(file, bytes, true) {}
};

/* Work of one thread at a time: what it asks of the robot, and where its obstacles are. */
class Work {
public:
  /* Forget all that was: targets, obstacles and q are those of the file. */
  void begin() noexcept { work_ = pz_begin(of_.get(), memory_.get()); }
  Status pose(Numbers q, std::int64_t frame, Pose &pose) noexcept {
    return fits(q, nq_) ? pz_pose(work_, q.data(), frame, pose.data()) : PZ_BAD_ARGUMENT;
  }
  /* Those of all frames, seven numbers each. */
  Status poses(Numbers q, Room poses) noexcept {
    if (!fits(q, nq_) || !fits(poses, 7 * of_.count(PZ_FRAME))) return PZ_BAD_ARGUMENT;
    return pz_poses(work_, q.data(), poses.data());
  }
  /* 6 x nv, row by row, as pz_jacobian has it. */
  Status jacobian(Numbers q, std::int64_t frame, Room jacobian) noexcept {
    if (!fits(q, nq_) || !fits(jacobian, 6 * of_.nv())) return PZ_BAD_ARGUMENT;
    return pz_jacobian(work_, q.data(), frame, jacobian.data());
  }
  Status distance(Numbers q, pz_proximity &nearest) noexcept {
    return fits(q, nq_) ? pz_distance(work_, q.data(), &nearest) : PZ_BAD_ARGUMENT;
  }
  Status move(std::int64_t obstacle, const Pose &pose) noexcept { return pz_move(work_, obstacle, pose.data()); }

  pz_work *get() const noexcept { return work_; }

protected:
  explicit Work(const Loaded &of) : of_(of), memory_(new char[pz_work_size(of.get())]), nq_(of.nq()) { begin(); }
  template <class T> static bool fits(View<T> given, std::size_t count) noexcept { return given.size() == count; }
  bool stated(Numbers targets, Numbers q) const noexcept {
    return (!targets.data() || fits(targets, of_.count(PZ_TARGET))) && (!q.data() || fits(q, nq_));
  }

  Loaded of_;
  std::unique_ptr<char[]> memory_;
  std::size_t nq_;
  pz_work *work_ = nullptr;
};

class SolverWork : public Work {
public:
  explicit SolverWork(const Solver &solver) : Work(solver) {}
  /* Solve for targets from q0 until a deadline; without one until it ends by itself. */
  Status solve(Numbers targets, Numbers q0, Room q, Clock::time_point deadline = Clock::time_point::max()) noexcept {
    if (!stated(targets, q0) || !fits(q, nq_)) return PZ_BAD_ARGUMENT;
    const auto late = [](void *when) -> int { return Clock::now() >= *static_cast<Clock::time_point *>(when); };
    const bool ends = deadline != Clock::time_point::max();
    return pz_solve(work_, targets.data(), q0.data(), q.data(), &report_, ends ? +late : nullptr, &deadline);
  }
  const pz_report &report() const noexcept { return report_; } /* how the last answer was found */

private:
  pz_report report_{};
};

struct TrackerWork : Work {
  explicit TrackerWork(const Tracker &tracker) : Work(tracker) {}
  /* One step from q, or from where the last one led with {}, towards targets, with {} those of the last step. */
  Status step(Numbers q, Numbers targets, Room next) noexcept { return step(q, targets, {}, next); }
  /* The same, no farther ahead of where the robot was measured to be than the tracker's following error. */
  Status step(Numbers q, Numbers targets, Numbers measured, Room next) noexcept {
    if (!stated(targets, q) || !stated({}, measured) || !fits(next, nq_)) return PZ_BAD_ARGUMENT;
    return pz_step_measured(work_, q.data(), targets.data(), measured.data(), next.data());
  }
};
#ifdef EIGEN_GEOMETRY_MODULE_H
using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;

inline Pose pose(const Eigen::Isometry3d &T) {
  const Eigen::Quaterniond turn(T.linear());
  return {T(0, 3), T(1, 3), T(2, 3), turn.w(), turn.x(), turn.y(), turn.z()};
}
inline Eigen::Isometry3d isometry(const Pose &pose) {
  const Eigen::Quaterniond turn(pose.qw, pose.qx, pose.qy, pose.qz);
  return Eigen::Translation3d(pose.x, pose.y, pose.z) * turn;
}
#endif
} // namespace poise
#endif
