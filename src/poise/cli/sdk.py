"""`poise sdk`: libpoise as C and C++ programs want it, in a folder."""

from pathlib import Path

from tyro.conf import Positional

from poise.cli.command import Writes, command

_FILES = ("include/poise.h*", "lib/*poise.*", "lib/cmake/poise/*", "lib/pkgconfig/poise.pc")


@command
class Sdk(Writes):
    """Write a folder with libpoise: its headers, the library, and what CMake and pkg-config look for.

    The folder may be moved anywhere.  A program loads with it what `poise export`, `Solver.export` or `Tracker.export`
    wrote.
    """

    folder: Positional[Path]
    """Where it goes; --force replaces an earlier one."""
    json: bool = False
    """Print one line of JSON."""

    def run(self) -> int:
        """Write and print."""
        from poise.build.sdk import write_sdk
        from poise.cli.output import keep, print_json, say

        keep((file for name in _FILES for file in self.folder.glob(name)), force=self.force)
        files = write_sdk(self.folder)
        if self.json:
            print_json({"folder": str(self.folder), "files": [str(file) for file in files]})
        else:
            say("\n".join(str(self.folder / file) for file in files))
        return 0
