"""`python -m poise.build`: compile all kernels ahead for a kind of machine, into one library."""

import argparse
import sys
import time
from pathlib import Path

from poise.build.targets import PAGE, TARGETS
from poise.common.errors import MissingExtra
from poise.kernels.machine.library import machine, place


def main() -> int:
    """Build the libraries of the targets that are named."""
    parser = argparse.ArgumentParser(prog="python -m poise.build", description=__doc__)
    parser.add_argument(
        "--target", action="append", choices=[*TARGETS, PAGE.name], help="a machine; by default this one"
    )
    parser.add_argument("--out", type=Path, help="a folder for the libraries; by default where poise looks for them")
    parser.add_argument("--jobs", type=int, default=0, help="processes; by default as many as there are cores")
    options = parser.parse_args()
    try:
        import numba
    except ModuleNotFoundError:
        parser.error(str(MissingExtra("building", "numba", "jit")))
    # Numba optimises what is its own before anything of ours sees it: for no CPU more than for another.
    numba.config.CPU_NAME, numba.config.CPU_FEATURES = "generic", ""
    from poise.build.making import make_all
    from poise.build.page import called, make_page

    begun = time.monotonic()
    usual = {name: place(name) for name in options.target or [machine()]}
    files = {name: options.out / file.name if options.out else file for name, file in usual.items()}
    libraries = {TARGETS[name]: file for name, file in files.items() if name in TARGETS}
    made = dict.fromkeys(libraries.values(), make_all(libraries, options.jobs) if libraries else 0)
    if PAGE.name in files:
        made[files[PAGE.name]] = make_page(called(), files[PAGE.name])
    for out, count in made.items():
        print(f"{out}: {count} functions, {out.stat().st_size / 1e6:.1f} MB")
    print(f"built in {time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
