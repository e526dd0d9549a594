"""How a wheel is built: with POISE_TARGET=x86_64-linux in the environment, the library of all kernels goes in, compiled
here for that machine, and Numba is an extra; without it, Numba compiles kernels where they run."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

TARGET = os.environ.get("POISE_TARGET", "")
LINUX = "manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}"  # the library calls nothing, not even libc
TAGS = {
    "x86_64-linux": LINUX.format("x86_64"),
    "aarch64-linux": LINUX.format("aarch64"),
    "x86_64-win": "win_amd64",
    "aarch64-win": "win_arm64",
    "x86_64-darwin": "macosx_11_0_x86_64",
    "aarch64-darwin": "macosx_11_0_arm64",
}
"""The platforms on which pip installs the wheel of each target."""


def absolute(text: str, home: str, at: str) -> str:
    """Markdown whose relative links lead to the repository `home` as it is at a tag or branch; as it is without `home`.

    Pictures are links to what a host serves as a file, all else to what it shows as a page.
    """
    if not home:
        return text
    relative = r"\]\((?!\w+:|#)"
    text = re.sub(rf"(!\[[^\]]*){relative}", rf"\1]({home}/raw/{at}/", text)
    return re.sub(relative, f"]({home}/blob/{at}/", text)


class Metadata(MetadataHookInterface):
    """What poise needs where it runs, and what an index shows."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Numba is needed too where there is no library; addresses are those of the repository, where it has one."""
        compiler = [] if TARGET else metadata["optional-dependencies"]["jit"]
        metadata["dependencies"] = [*self.config["dependencies"], *compiler]
        home, pages = self.config["home"], self.config["pages"]
        version = metadata["version"]
        at = "main" if "dev" in version else f"v{version}"
        text = absolute(Path(self.root, "README.md").read_text(encoding="utf-8"), home, at)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        within = {"Source": "", "Issues": "/issues", "Changelog": f"/blob/{at}/CHANGELOG.md"} if home else {}
        metadata["urls"] = {name: home + path for name, path in within.items()}
        if pages:
            metadata["urls"]["Documentation"] = pages


class Kernels(BuildHookInterface):  # type: ignore[type-arg]
    """The library in the wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What the builder needs to run."""
        if not TARGET:
            return []
        metadata = self.metadata.core
        return [*metadata.dependencies, *metadata.optional_dependencies["jit"], "ziglang"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile all kernels, and say for which machines the wheel is."""
        if not TARGET or version == "editable":
            return
        if TARGET not in TAGS:
            raise ValueError(f"POISE_TARGET={TARGET} is none of {', '.join(TAGS)}")
        self._folder = tempfile.TemporaryDirectory()
        targets = ["--target", TARGET, "--target", "wasm32"]  # the second is for the pages that the viewer writes
        build = [sys.executable, "-m", "poise.build", *targets, "--out", self._folder.name]
        # Found where it runs and not by a path: pip says by PYTHONPATH where Numba is, and takes from the path what the
        # environment around has there, so a poise that is installed editable too.
        subprocess.run(build, cwd=Path(self.root, "src"), check=True)
        Path(self._folder.name, "sealed").touch()  # see `poise.kernels.machine.library`
        for file in Path(self._folder.name).iterdir():
            build_data["force_include"][str(file)] = f"poise/compiled/{file.name}"
        build_data["pure_python"], build_data["tag"] = False, f"py3-none-{TAGS[TARGET]}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leave nothing behind."""
        if TARGET and version != "editable":
            self._folder.cleanup()
