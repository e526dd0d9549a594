"""MotionBenchMaker's poses with capsules fitted to a Panda's links, beside the hulls that it loads with.

    [MOTION_BENCH_MAKER=problems.tar.bz2] python benchmarks/motion_bench.py [room in m]

The problems, their judge and the archive with all of them are those of `poise reproduce motion-bench-maker`.  Of each
set: how many are solved, how many of those the judge finds good, and the microseconds of CPU time of a call.
"""

import sys

import numpy as np
from report import print_table

import poise as pz
from poise_experiments.motion_bench_maker.judge import Judge
from poise_experiments.motion_bench_maker.problem import panda, solve
from poise_experiments.motion_bench_maker.report import CALLS, CLEARANCE
from poise_experiments.motion_bench_maker.sets import problem_sets


def main() -> None:
    """Both tables."""
    clearance = float(sys.argv[1]) if len(sys.argv) > 1 else CLEARANCE
    for shapes, arm in {"as loaded": panda(), "fitted capsules": pz.fit_shapes(panda()).model}.items():
        print(f"\nShapes {shapes}, {1e3 * clearance:g} mm asked\n")
        rows = []
        for name, problems in problem_sets().items():
            answers = [solve(arm, problem, clearance=clearance, calls=CALLS) for problem in problems]
            pairs = zip(problems, answers, strict=True)
            good = [Judge(problem)(answer.q).good for problem, answer in pairs if answer.solved]
            spent = [answer.microseconds for answer in answers]
            times = [f"{np.quantile(spent, share):.0f}" for share in (0.5, 0.9, 0.99)]
            rows.append([name, *map(str, (len(problems), len(good), sum(good))), *times])
        print_table(["set"], ["poses", "solved", "good", "median us", "p90 us", "p99 us"], rows)


if __name__ == "__main__":
    main()
