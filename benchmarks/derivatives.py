"""Derivatives of random answers against central differences of solves that begin at the answer.

    python benchmarks/derivatives.py [CASES] [KIND ...]

Of each kind of `tests/support/derivatives.py`: how many have a derivative, how far it is from differences, and how many
are farther off than WORST.  Of these it says which have two, one from each side.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np

WORST = 1e-6


def main() -> None:
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from support.derivatives import KINDS, outcome

    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1250
    for kind in sys.argv[2:] or KINDS:
        words, errors, wrong = Counter[str](), [], []
        for seed in range(count):
            found = outcome(KINDS[kind](seed), WORST)
            words[found.word] += 1
            if found.word in ("right", "wrong"):
                errors.append(found.error)
            if found.word in ("wrong", "kink", "jump"):
                wrong.append((found.error, found.word, seed))
        told = ", ".join(f"{many} {word}" for word, many in words.most_common())
        middle, most = (np.median(errors), np.max(errors)) if errors else (np.nan, np.nan)
        print(f"{kind}: {told}; median {middle:.1e}, largest {most:.1e}", flush=True)
        for error, word, seed in sorted(wrong, reverse=True)[:20]:
            print(f"  seed {seed}: {word}, {error:.1e}", flush=True)


if __name__ == "__main__":
    main()
