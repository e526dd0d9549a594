"""The program that drives the plug-ins of ROS, `ros2/poise_kinematics/test/host.cpp`, compiled against stubs."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.library import library

ROOT = Path(__file__).resolve().parents[2]
EIGEN = Path("/usr/include/eigen3")
FLAGS = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread")
INCLUDED = ("-Iros2/stubs", "-Iros2/poise_kinematics/src", "-Isrc/poise/build", "-isystem", str(EIGEN))


def missing() -> str | None:
    """What this machine lacks to compile it."""
    if shutil.which("g++") is None:
        return "the plug-ins of ROS need a compiler: apt-get install g++"
    if not EIGEN.is_dir():
        return "the plug-ins of ROS need Eigen: apt-get install libeigen3-dev"
    if library() is None:
        return "the plug-ins of ROS need the library: python -m poise.build"
    return None


def built(folder: Path) -> Path:
    """The program, whose compiler has nothing to warn of."""
    found = library()
    assert found is not None

    def compiled(source: Path) -> str:
        out = str(folder / source.with_suffix(".o").name)
        subprocess.run(["g++", *FLAGS, *INCLUDED, "-c", str(source), "-o", out], cwd=ROOT, check=True)
        return out

    package = ROOT / "ros2" / "poise_kinematics"
    sources = [package / "test" / "host.cpp", *sorted((package / "src").glob("*.cpp"))]
    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, sources))
    program = folder / "host"
    subprocess.run(["g++", "-pthread", *objects, str(found.file.absolute()), "-o", str(program)], check=True)
    return program


class Host:
    """The program, running: it is told words and numbers, and answers."""

    def __init__(self, program: Path, log: Path) -> None:
        self._log = log
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                [str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )

    def __call__(self, *words: Any) -> list[str]:
        """What it answers; arrays are sent as their numbers."""
        said = [str(word) for given in words for word in (given.tolist() if isinstance(given, np.ndarray) else [given])]
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        to.write(" ".join(said) + "\n")
        to.flush()
        return _line(back)

    def numbers(self, *words: Any) -> tuple[int, Array]:
        """Its answer as true, false or a code, and the numbers that follow."""
        first, *others = self(*words)
        return int(first), np.array([float(one) for one in others])

    def complaint(self) -> str:
        """What it has complained of last."""
        return self._log.read_text().splitlines()[-1]

    def close(self) -> None:
        """End it."""
        self._process.communicate()
        assert self._process.returncode == 0


def _line(stream: IO[str]) -> list[str]:
    return stream.readline().split()
