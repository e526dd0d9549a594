"""Files that were damaged or forged, for libpoise's reader under the sanitizers of a compiler; see fuzz.c.

python tests/carried/fuzz.py [COUNT] [SEED]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import poise as pz
from poise.build.faces import HEADER, generated
from poise.build.targets import TARGETS
from poise.kernels.machine.library import library, machine

HERE = Path(__file__).parent
SANITIZED = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def exported(folder: Path) -> list[Path]:
    """Files of each kind: of a solver, a tracker, and one among shapes."""
    arm, shaped = pz.load("planar3"), pz.load("panda_collision")
    limit = pz.CollisionLimit(pz.World({"ball": pz.Sphere((0.6, 0.3, 0.5), 0.1)}))
    files = {
        "solver": pz.Solver(arm, pz.PositionTask(arm.tip)),
        "tracker": pz.Tracker(arm, [pz.PositionTask(arm.tip), pz.PostureTask()], dt=0.01),
        "shapes": pz.Tracker(shaped, pz.PoseTask(shaped.tip), dt=0.01, limits=[limit]),
    }
    for name, one in files.items():
        one.export(folder / f"{name}.poise")
    return [folder / f"{name}.poise" for name in files]


def compiled(folder: Path) -> Path:
    """The program, with poise.c in it and the kernels of this process's library; raises CalledProcessError."""
    found = library()
    assert found is not None
    levels = [level.name for level in TARGETS[machine()].levels]
    (folder / "generated.h").write_text(generated(found._kinds, levels))
    program = folder / "fuzz"
    command = [
        "cc",
        "-std=gnu11",
        *SANITIZED,
        f"-I{folder}",
        f"-I{HEADER.parent}",
        str(HERE / "fuzz.c"),
        "-o",
        str(program),
    ]
    subprocess.run([*command, str(found.file), "-lm"], check=True, capture_output=True, text=True)
    return program


def fuzzed(program: Path, files: list[Path], count: int, seed: int) -> subprocess.CompletedProcess[str]:
    """How it ended."""
    command = [str(program), str(count), str(seed), *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        count, seed = [*map(int, sys.argv[1:]), *(1_000_000, 1)[len(sys.argv) - 1 :]]
        ended = fuzzed(compiled(Path(made)), exported(Path(made)), count, seed)
        print(ended.stdout + ended.stderr)
        sys.exit(ended.returncode)
