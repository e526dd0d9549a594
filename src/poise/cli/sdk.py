"""`poise sdk`: libpoise as C and C++ programs want it, or as pages and node do, in a folder."""

from pathlib import Path

from tyro.conf import Positional

from poise.cli.command import Answer, Writes, command

_FILES = ("include/poise.h*", "lib/*poise.*", "lib/cmake/poise/*", "lib/pkgconfig/poise.pc")


@command
class Sdk(Writes):
    """Write a folder with libpoise: its headers, the library, and what CMake and pkg-config look for.

    The folder may be moved anywhere.  A program loads with it what `poise export`, `Solver.export` or `Tracker.export`
    wrote.  With --browser it is a package of npm instead, the same for pages and node.
    """

    folder: Positional[Path]
    """Where it goes; --force replaces an earlier one."""
    browser: bool = False
    """Write what JavaScript imports: poise.js, its types, poise.wasm, adapters for three.js and urdf-loader."""

    def run(self) -> Answer:
        """Write."""
        from poise.build.sdk import PACKAGE, write_package, write_sdk
        from poise.cli.output import keep, say

        names = (*PACKAGE, "poise.wasm") if self.browser else _FILES
        keep((file for name in names for file in self.folder.glob(name)), force=self.force)
        files = write_package(self.folder) if self.browser else write_sdk(self.folder)
        use = (
            f"A package of npm stands in {self.folder}: `npm install {self.folder}` brings it into a project, and `npm "
            "pack` there makes an archive of it."
            if self.browser
            else f"libpoise stands in {self.folder}, which may be moved: give it to CMake as CMAKE_PREFIX_PATH, or its "
            "lib/pkgconfig to pkg-config."
        )
        return Answer(
            facts={"folder": str(self.folder), "files": [str(file) for file in files]},
            show=lambda: say("\n".join(str(self.folder / file) for file in files)),
            explanation=use,
        )
