// Lead an arm at 1 kHz along a circle, past a ball that moves, each step within its time.
//
//     track arm.poise panda_hand [STEPS]
//
// The file is of a Tracker with dt=0.001, and with limits=[pz.CollisionLimit(...)] of a world in which a "ball" is.

#include <poise.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

int main(int count, char **given) try {
  if (count < 3) return std::fprintf(stderr, "usage: track FILE FRAME [STEPS]\n"), 1;
  const poise::Tracker arm(given[1]);
  poise::TrackerWork work(arm);
  const int steps = count > 3 ? std::atoi(given[3]) : 5000;
  const auto frame = arm.frame(given[2]), ball = arm.obstacle("ball");

  std::vector<double> q(arm.home().begin(), arm.home().end());
  poise::Pose start;
  if (const auto status = work.pose(q, frame, start); status != PZ_OK)
    return std::fprintf(stderr, "%s: %s\n", given[2], poise::message(status)), 1;

  constexpr std::chrono::microseconds period(1000), budget(200);
  auto due = poise::Clock::now();
  poise::Clock::duration worst{};
  int late = 0, failed = 0;
  for (int k = 0; k < steps; k++, due += period) {
    std::this_thread::sleep_until(due);
    const auto begun = poise::Clock::now();
    const double angle = 0.001 * k;
    poise::Pose target = start;
    target.y += 0.1 * std::sin(angle);
    target.z += 0.1 * (std::cos(angle) - 1.0);
    if (ball >= 0) work.move(ball, {0.6, 0.3 * std::cos(angle), 0.5});
    failed += work.step(q, target, q) != PZ_OK; // it stays where it is then
    const auto took = poise::Clock::now() - begun;
    worst = std::max(worst, took);
    late += took > budget;
  }

  poise::Pose here;
  work.pose(q, frame, here);
  std::printf("steps %d failed %d late %d\n", steps, failed, late);
  std::printf("worst %.1f us\n", std::chrono::duration<double, std::micro>(worst).count());
  std::printf("q");
  for (const double number : q) std::printf(" %.17g", number);
  std::printf("\nhand %.6f %.6f %.6f\n", here.x, here.y, here.z);
  if (pz_proximity near{}; work.distance(q, near) == PZ_OK)
    std::printf("nearest %s to %s: %.4f m\n", arm.name(PZ_SHAPE, near.first), arm.name(PZ_SHAPE, near.second),
                near.distance);
  return 0;
} catch (const std::exception &error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
