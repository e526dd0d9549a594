"""`poise sdk`: libpoise as C and C++ programs want it, in a folder."""

from pathlib import Path

from tyro.conf import Positional

from poise.cli.command import Answer, Writes, command

_FILES = ("include/poise.h*", "lib/*poise.*", "lib/cmake/poise/*", "lib/pkgconfig/poise.pc")


@command
class Sdk(Writes):
    """Write a folder with libpoise: its headers, the library, and what CMake and pkg-config look for.

    The folder may be moved anywhere.  A program loads with it what `poise export`, `Solver.export` or `Tracker.export`
    wrote.
    """

    folder: Positional[Path]
    """Where it goes; --force replaces an earlier one."""

    def run(self) -> Answer:
        """Write."""
        from poise.build.sdk import write_sdk
        from poise.cli.output import keep, say

        keep((file for name in _FILES for file in self.folder.glob(name)), force=self.force)
        files = write_sdk(self.folder)
        return Answer(
            facts={"folder": str(self.folder), "files": [str(file) for file in files]},
            show=lambda: say("\n".join(str(self.folder / file) for file in files)),
            explanation=f"libpoise stands in {self.folder}, which may be moved: give it to CMake as CMAKE_PREFIX_PATH, "
            "or its lib/pkgconfig to pkg-config.",
        )
