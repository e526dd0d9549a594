#include "approach.hpp"

#include <Eigen/Cholesky>

#include <algorithm>

namespace poise_kinematics
{
namespace
{
constexpr int STEPS = 100;
constexpr double NEAR = 1e-9;  // [m and rad], far below poise's tolerances

// Where the frames are, as rows of an error and its Jacobian by the joints of the chain.
class Rows
{
public:
  // A task of one error is of a position; one of two has a rotation as well.
  Rows(const Reading & reading, poise::Work & work, const std::vector<double> & targets)
  : chain_(reading.chain), targets_(targets), work_(work),
    rows_(reading.file.count(PZ_ERROR) > reading.file.count(PZ_TASK) ? 6 : 3),
    all_(6, static_cast<Eigen::Index>(reading.file.nv()))
  {
  }

  Eigen::VectorXd error(const std::vector<double> & q)
  {
    Eigen::VectorXd error(rows_ * static_cast<Eigen::Index>(chain_.tips.size()));
    for (std::size_t k = 0; k < chain_.tips.size(); ++k) {
      poise::Pose now;
      work_.pose(q, chain_.tips[k], now);
      const Eigen::Isometry3d from = poise::isometry(now), to = pose_at(targets_, k);
      Eigen::Matrix<double, 6, 1> apart;
      apart << to.translation() - from.translation(), turn_between(from.linear(), to.linear());
      error.segment(rows_ * static_cast<Eigen::Index>(k), rows_) = apart.head(rows_);
    }
    return error;
  }

  Eigen::MatrixXd jacobian(const std::vector<double> & q)
  {
    const auto joints = static_cast<Eigen::Index>(chain_.places.size());
    Eigen::MatrixXd found(rows_ * static_cast<Eigen::Index>(chain_.tips.size()), joints);
    for (std::size_t k = 0; k < chain_.tips.size(); ++k) {
      work_.jacobian(q, chain_.tips[k], all_);
      for (Eigen::Index j = 0; j < joints; ++j) {
        const auto place = static_cast<Eigen::Index>(chain_.places[static_cast<std::size_t>(j)]);
        found.block(rows_ * static_cast<Eigen::Index>(k), j, rows_, 1) = all_.col(place).head(rows_);
      }
    }
    return found;
  }

private:
  const Chain & chain_;
  const std::vector<double> & targets_;
  poise::Work & work_;
  Eigen::Index rows_;  // a tip
  poise::Jacobian all_;
};
}  // namespace

void approach(
  const Reading & reading, poise::Work & work, const std::vector<double> & targets, const std::vector<double> & lower,
  const std::vector<double> & upper, std::vector<double> & q)
{
  const Chain & chain = reading.chain;
  Rows rows(reading, work, targets);
  const std::size_t joints = chain.places.size();
  Eigen::VectorXd error = rows.error(q);
  double damping = 1e-4;
  for (int step = 0; step < STEPS && error.lpNorm<Eigen::Infinity>() > NEAR; ++step) {
    const Eigen::MatrixXd jacobian = rows.jacobian(q);
    std::vector<bool> held(joints);
    std::vector<double> next;
    // Joints that the step would push out of the box stay at its border, and the others step again without them.
    for (bool again = true; again;) {
      again = false;
      Eigen::MatrixXd normal = jacobian.transpose() * jacobian;
      Eigen::VectorXd gradient = jacobian.transpose() * error;
      normal.diagonal().array() += damping;
      for (std::size_t k = 0; k < joints; ++k) {
        if (held[k]) {
          const auto j = static_cast<Eigen::Index>(k);
          normal.row(j).setZero();
          normal.col(j).setZero();
          normal(j, j) = 1.0;
          gradient(j) = 0.0;
        }
      }
      const Eigen::VectorXd change = normal.ldlt().solve(gradient);
      next = q;
      for (std::size_t k = 0; k < joints; ++k) {
        double & value = next[chain.places[k]];
        const double before = value, wish = value + change(static_cast<Eigen::Index>(k));
        value = std::min(std::max(wish, lower[k]), upper[k]);
        if (value == before && wish != before && !held[k]) {
          held[k] = again = true;
        }
      }
    }
    const Eigen::VectorXd there = rows.error(next);
    const bool better = there.squaredNorm() < error.squaredNorm();
    damping = better ? std::max(0.1 * damping, 1e-12) : 10.0 * damping;
    if (better) {
      q = next;
      error = there;
    } else if (damping > 1e6) {
      return;
    }
  }
}
}  // namespace poise_kinematics
