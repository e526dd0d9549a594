"""The machines for which there are libraries, and the levels of instructions that one library has."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Level:
    """Instructions that a CPU has: the `name` ends the symbols, `cpu` and `features` are LLVM's names.

    `fma` rounds a product and sum once; what stands for it does so too if it is `exact`, see `products`.
    """

    name: str
    cpu: str
    fma: bool = True
    exact: bool = True
    features: str = ""


@dataclass(frozen=True)
class Target:
    """A machine and a system, as LLVM and zig call them, and the levels of its library, the least first."""

    name: str
    triple: str
    zig: str
    levels: tuple[Level, ...]


_X86: Final = (Level("v2", "x86-64-v2", fma=False), Level("v3", "x86-64-v3"), Level("v4", "x86-64-v4"))
_ARM: Final = (Level("v8", "generic"),)
TARGETS: Final = {
    target.name: target
    for target in (
        Target("x86_64-linux", "x86_64-unknown-linux-gnu", "x86_64-linux-gnu", _X86),
        Target("aarch64-linux", "aarch64-unknown-linux-gnu", "aarch64-linux-gnu", _ARM),
        Target("x86_64-win", "x86_64-w64-windows-gnu", "x86_64-windows-gnu", _X86),
        Target("aarch64-win", "aarch64-w64-windows-gnu", "aarch64-windows-gnu", _ARM),
        Target("x86_64-darwin", "x86_64-apple-macosx11.0", "x86_64-macos.11.0", _X86),
        Target("aarch64-darwin", "arm64-apple-macosx11.0", "aarch64-macos.11.0", _ARM),
    )
}
PAGE: Final = Target(
    "wasm32",
    "wasm32-unknown-unknown",
    "wasm32-freestanding",
    (Level("simd128", "generic", fma=False, exact=False, features="+simd128"),),
)
"""A browser, or node: its library is a module of WebAssembly, see `page`."""
