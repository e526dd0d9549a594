"""A paper's figure with a method of one's own: Polyak's heavy ball beside published methods, on the same problems.

python 7_paper_figure.py --count 200 --out figure.pdf
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import poise as pz
from poise.own import FRESH, Capabilities, JacobianMethod, load, method, select, store
from poise.testing import check_method


@method
@dataclass(frozen=True, kw_only=True)
class HeavyBall(JacobianMethod):
    """dq = gain J^T e + momentum (last dq): Polyak 1964, Eq. (9)."""

    name: ClassVar[str] = "heavy-ball"
    title: ClassVar[str] = "Heavy ball"
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 2000
    gain: float = 0.2
    momentum: float = 0.8

    @staticmethod
    def step(p: Any, s: Any, w: Any) -> None:
        """In plain Python, which Numba compiles."""
        fresh = load(w.memory, FRESH) < 0.5  # before the first update there is no last step
        for a in range(len(w.step)):
            last = select(fresh, 0.0, load(w.step, a))
            store(w.step, a, s.gain * load(w.gradient, a) + s.momentum * last)


def main() -> None:
    """Test the method, compare it, draw it, and keep the numbers beside the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--out", type=Path, default=Path("figure.pdf"))
    options = parser.parse_args()
    arm = pz.load("planar3")
    check_method(HeavyBall(), arm, arm.tip, count=1)
    table = pz.compare(
        arm, pz.PositionTask(arm.tip), methods=["heavy-ball", "jt", "dls", "lm"], count=options.count, seed=1
    )
    print(table)
    table.plot(options.out)
    options.out.with_suffix(".json").write_text(table.json())

    kept = json.loads(options.out.with_suffix(".json").read_text())
    solved = {row["label"]: row["success"] for row in kept["rows"]}
    print(f"{options.out}: {options.count} problems; of the heavy ball {solved['heavy-ball']:.0%} solved")
    assert solved["lm"] > 0.9
    assert all(row["broken"] == 0.0 for row in kept["rows"])


if __name__ == "__main__":
    main()
