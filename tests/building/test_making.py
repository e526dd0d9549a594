"""A library that was compiled ahead calls nothing of others, and gives what Numba's functions give."""

import ctypes
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import poise.kernels.machine.library
from poise.build.linking import link, link_fast_path
from poise.build.lowering import lower
from poise.build.making import make
from poise.build.objects import emit, undefined
from poise.build.targets import TARGETS, Target
from poise.common.array import Array
from poise.kernels.machine import jit
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.kinds import NARROW, PROBLEM_VIEW, REAL, WHOLE, WIDE
from poise.kernels.machine.library import NATIVE, Ahead, Library, chosen, library, machine
from poise.kernels.path.blocks import solve_again, solve_blocks
from poise.solving.solvers.warmup import jobs
from poise.tasks.pose import PoseTask, position_rows

TARGET = TARGETS.get(machine())
FUNCTIONS = [
    (solve_blocks,), (solve_again,),
    (position_rows, PROBLEM_VIEW, WIDE, WHOLE), (position_rows, PROBLEM_VIEW, NARROW, WHOLE),
]  # fmt: skip
BLOCKS, SIZE = 5, 3

pytestmark = pytest.mark.skipif(
    TARGET is None or shutil.which("cc") is None or numba.config.DISABLE_JIT, reason="nothing is built for here"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert TARGET is not None
    out = tmp_path_factory.mktemp("library") / "some" / "poise.so"
    assert make(FUNCTIONS, {TARGET: out}) == len(FUNCTIONS)
    return out


@pytest.fixture
def here(built: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The library stands where this package looks for it, and no other was looked for."""
    monkeypatch.setattr(poise.kernels.machine.library, "place", lambda: built)
    monkeypatch.delenv("POISE_CPU", raising=False)
    chosen.cache_clear()
    yield built
    chosen.cache_clear()


def solved(solve: Callable[..., Any], again: Callable[..., Any]) -> tuple[float, Array]:
    """What both make of a block tridiagonal system."""
    rng = np.random.default_rng(3)
    blocks = np.array([x @ x.T + np.eye(SIZE) for x in rng.normal(size=(BLOCKS, SIZE, SIZE))]).ravel()
    ties, x = 0.1 * rng.normal(size=(BLOCKS - 1) * SIZE), rng.normal(size=BLOCKS * SIZE)
    room = np.empty(SIZE * SIZE)
    definite = solve(SIZE, blocks, ties, x, room)
    again(SIZE, blocks, ties, x, room)
    return definite, x


def test_it_needs_no_other_library(built: Path) -> None:
    def told(*command: str) -> str:
        return subprocess.run([*command, str(built)], check=True, capture_output=True, text=True).stdout

    if shutil.which("nm"):
        assert told("nm", "-D", "--undefined-only") == ""
        names = [line.split()[-1] for line in told("nm", "-D", "--defined-only").splitlines()]
        assert all(name.startswith(("poise_", "pz_")) for name in names), "and shows nothing else"
    if shutil.which("readelf"):
        assert "NEEDED" not in told("readelf", "-d")


def test_every_level_gives_what_numba_gives(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "library", lambda: None)
    for function in (solve_blocks, solve_again):
        monkeypatch.delitem(jit._READY, function, raising=False)
    definite, x = solved(jit.prepare(solve_blocks), jit.prepare(solve_again))
    usable = Library(built).usable
    assert Library(built).level == usable[-1]
    for level in usable:
        ahead = [Library(built, level).get(f"poise_path_blocks_{name}") for name in ("solve_blocks", "solve_again")]
        found = solved(*(each.function() for each in ahead if each is not None))
        assert found[0] == definite
        np.testing.assert_allclose(found[1], x, rtol=1e-13, atol=1e-13, err_msg=level)


def test_the_best_level_is_that_of_the_cpu(built: Path) -> None:
    cpu = Path("/proc/cpuinfo")
    if machine() != "x86_64-linux" or not cpu.is_file():
        pytest.skip("nothing else here tells")
    flags = set(next(line for line in cpu.read_text().splitlines() if line.startswith("flags")).split())
    v3 = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"} <= flags
    v4 = v3 and {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags
    assert Library(built).usable == ("v2", "v3", "v4")[: 1 + v3 + v4]


def test_what_is_in_it_is_not_compiled_by_numba(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (solve_blocks, solve_again):
        monkeypatch.delitem(jit._READY, function, raising=False)
    monkeypatch.setattr(jit, "compiler", pytest.fail)
    found = library()
    assert found is not None
    assert solved(jit.prepare(solve_blocks), jit.prepare(solve_again))[0] > 0.0
    for width, name in ((NARROW, "poise_tasks_pose_position_rows"), (WIDE, "poise_tasks_pose_position_rows_wide")):
        ahead = found.get(name)
        assert isinstance(ahead, Ahead)
        assert jit.address(position_rows, PROBLEM_VIEW, width, WHOLE) == ahead.address
        assert not jit.missing(position_rows, PROBLEM_VIEW, width, WHOLE)


WITHOUT_NUMBA = """
import sys
sys.modules.update(numba=None, llvmlite=None)  # as if they were not installed
from pathlib import Path
import numpy as np
import poise.kernels.machine.library
poise.kernels.machine.library.place = lambda: Path({built!r})
from poise.common.errors import MissingExtra
from poise.kernels.kinematics.query import poses
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.kinds import FROZEN, REALS
from poise.kernels.path.blocks import solve_blocks
from poise.solving.arguments.user_functions import compiled

def away(q, out):
    out[0] = q[0]

x = np.array([6.0])
assert prepare(solve_blocks)(1, np.array([2.0]), np.zeros(0), x, np.empty(1))
assert abs(x[0] - 3.0) < 1e-12
for need in (lambda: prepare(poses), lambda: compiled("gradient", "the Potential", "second", away, FROZEN, REALS)):
    try:
        need()
    except MissingExtra as error:
        print(error)
"""


def test_without_numba_what_is_in_it_works_and_all_else_says_what_to_install(built: Path) -> None:
    code = WITHOUT_NUMBA.format(built=str(built))
    environment = {name: value for name, value in os.environ.items() if name != "POISE_CPU"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    needs = 'of which there is nothing compiled ahead here, needs numba: pip install "poise[jit]"'
    assert done.stdout.splitlines() == [f"query.poses, {needs}", f"gradient of the Potential, {needs}"]


def test_what_is_compiled_is_compiled_once(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert TARGET is not None
    monkeypatch.setattr("poise.build.making.lower", None)
    make(FUNCTIONS, {TARGET: tmp_path / "poise.so"}, 1)
    assert Library(tmp_path / "poise.so").digest == Library(built).digest


def test_the_rim_needs_python_alone(tmp_path: Path) -> None:
    assert TARGET is not None
    link_fast_path(TARGET, tmp_path / "fast_path.so")
    if shutil.which("nm"):
        told = subprocess.run(
            ["nm", "-D", str(tmp_path / "fast_path.so")], check=True, capture_output=True, text=True
        ).stdout
        names = [line.split() for line in told.splitlines()]
        assert [name[-1] for name in names if name[-2] == "T"] == ["PyInit_fast_path"]
        assert all(hasattr(ctypes.pythonapi, name[-1]) for name in names if name[-2] == "U")
    loader = ExtensionFileLoader("fast_path", str(tmp_path / "fast_path.so"))
    extension = module_from_spec(ModuleSpec("fast_path", loader, origin=loader.path))
    loader.exec_module(extension)
    out = np.empty((2, 7))
    assert extension.poses(np.stack([np.eye(4)] * 2), out)
    np.testing.assert_array_equal(out, [[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]] * 2)
    rows = np.random.default_rng(0).normal(size=(200, 7))
    out = np.empty((200, 7))
    assert extension.poses(rows, out)
    np.testing.assert_array_equal(out, PoseTask("tip").goals(rows))  # which is Python's where there is no library
    rows[7, 3:] = 0.0
    assert not extension.poses(rows, out)
    out = np.empty((2, 7))
    nothing = None, np.zeros((2, 4, 4)), np.eye(4), np.zeros((2, 4, 4), dtype=np.int64), np.full((2, 4, 4), np.nan)
    for wrong in nothing:
        assert not extension.poses(wrong, out)
    assert extension.line() is None
    with pytest.raises(TypeError, match="cannot create"):
        type(extension.line(bytes(72), b"p", *[None] * 10))()


def test_arrays_that_a_kernel_cannot_take_are_refused(built: Path) -> None:
    ahead = Library(built).get("poise_path_blocks_solve_again")
    assert ahead is not None
    again, x = ahead.function(), np.zeros(9)
    frozen = x.copy()
    frozen.flags.writeable = False
    for wrong in (frozen, np.zeros((3, 3)), np.zeros(9, dtype=np.float32), np.zeros(18)[::2]):
        with pytest.raises(TypeError, match="not what a kernel takes"):
            again(1, x, x, wrong, x)
    with pytest.raises(ValueError, match="argument"):
        again(1, x)


def test_a_library_of_other_kernels_is_left(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poise.kernels.machine.library, "digest", lambda: "another")
    assert library() is None
    chosen.cache_clear()
    monkeypatch.setenv("POISE_CPU", "v2")
    with pytest.raises(ValueError, match=r"was compiled of other kernels than these: run python -m poise\.build"):
        library()


def test_a_library_that_was_put_beside_its_text_is_believed(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poise.kernels.machine.library, "digest", lambda: "another")
    monkeypatch.setattr(poise.kernels.machine.library, "SEAL", tmp_path)
    assert library() is None
    (tmp_path / "sealed").touch()
    monkeypatch.setattr(poise.kernels.machine.library, "SEAL", tmp_path / "sealed")
    chosen.cache_clear()
    assert library() is not None


def test_poise_cpu_chooses(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    least = Library(here).levels[0]
    monkeypatch.setenv("POISE_CPU", least)
    found = library()
    assert found is not None
    assert found.level == least
    for wanted in (NATIVE, "v9"):
        chosen.cache_clear()
        monkeypatch.setenv("POISE_CPU", wanted)
        if wanted == NATIVE:
            assert library() is None
        else:
            with pytest.raises(ValueError, match="'v9' is no level"):
                library()


def test_a_level_without_a_library_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poise.kernels.machine.library, "place", lambda: tmp_path / "none.so")
    monkeypatch.setenv("POISE_CPU", "v3")
    chosen.cache_clear()
    with pytest.raises(ValueError, match=r"ahead, and there is no .*none\.so: run python -m poise"):
        library()
    monkeypatch.delenv("POISE_CPU")
    chosen.cache_clear()
    assert library() is None
    chosen.cache_clear()


def test_every_function_has_a_name_of_its_own() -> None:
    functions = [(getattr(job, "function", job), tuple(given)) for job, *given in dict.fromkeys(jobs())]
    names = [jit.symbol(f, given or jit.SIGNATURES[f]) for f, given in functions]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)


def test_a_result_that_no_caller_would_get_is_refused() -> None:
    """Numba's truth values and pairs would come through C as something else, or as nothing."""

    def whether(x: float) -> bool:
        return x > 0.0

    def pair(x: float) -> tuple[float, float]:
        return x, x

    for function, told in ((whether, "bool"), (pair, "UniTuple")):
        with pytest.raises(ValueError, match=rf"{function.__name__} returns {told}.*, or nothing"):
            lower(function, (REAL,))

    def double(x: float) -> float:
        return 2.0 * x

    assert lower(double, (REAL,)).kinds == "d d"
    assert lower(lambda x: None, (REAL,)).kinds == "v d"


@pytest.mark.parametrize("target", [target for name, target in TARGETS.items() if name.endswith("linux")])
def test_objects_for_linux_call_memory_alone(target: Target) -> None:
    lowered = lower(solve_again, jit.SIGNATURES[solve_again])
    for level in target.levels:
        made = emit({lowered.symbol: lowered.text}, target.triple, level)
        assert undefined(made) <= {"memcpy", "memmove", "memset"}


@pytest.mark.parametrize("target", [target for name, target in TARGETS.items() if not name.endswith("linux")])
def test_for_other_systems_it_is_linked_without_any_library(target: Target, tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="nothing else links for another system")
    assert make([(solve_again,)], {target: tmp_path / "poise.so"}) == 1
    assert b"poise_path_blocks_solve_again" in (tmp_path / "poise.so").read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["poise.so"]


LARGE = """
define i64 @large(i64 %at) {
  %room = alloca [65536 x i64], align 8
  %place = getelementptr i64, ptr %room, i64 %at
  store volatile i64 %at, ptr %place
  %found = load volatile i64, ptr %place
  ret i64 %found
}
"""
"""What takes more of the stack than a page, which Windows wants touched page by page."""


def library_of(name: str, text: str, kinds: str, target: Target, folder: Path) -> Path:
    """A library that has this function alone, at the least level of the target."""
    if target is not TARGET:
        pytest.importorskip("ziglang", reason="nothing else links for another system")
    made, out = folder / f"{name}.o", folder / f"{name}.so"
    made.write_bytes(emit({name: text}, target.triple, target.levels[0]))
    link([made], "", {name: kinds}, replace(target, levels=target.levels[:1]), out)
    return out


@pytest.mark.parametrize("target", TARGETS.values())
def test_a_kernel_may_take_many_pages_of_the_stack(target: Target, tmp_path: Path) -> None:
    library = library_of("large", LARGE, "q q", target, tmp_path)
    if target is TARGET:
        large = getattr(ctypes.CDLL(str(library)), f"large_{target.levels[0].name}")
        assert large(65535) == 65535


FILL = """
define i64 @fill(ptr %to, i64 %count) {
  %bytes = mul i64 %count, 8
  call void @llvm.memset.p0.i64(ptr align 8 %to, i8 0, i64 %bytes, i1 false)
  %half = lshr i64 %count, 1
  %none = icmp eq i64 %half, 0
  br i1 %none, label %end, label %next
next:
  %k = phi i64 [ 0, %0 ], [ %more, %next ]
  %at = getelementptr double, ptr %to, i64 %k
  store double 1.5, ptr %at
  %more = add i64 %k, 1
  %done = icmp eq i64 %more, %half
  br i1 %done, label %end, label %next
end:
  ret i64 %half
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""
"""What LLVM makes calls of, other ones on macOS than elsewhere."""


def asked_for(made: bytes) -> set[str]:
    """The names that a library of macOS has of others."""
    at, (commands,) = 32, struct.unpack_from("<I", made, 16)
    for _ in range(commands):
        kind, size, symbols, count, names = struct.unpack_from("<5I", made, at)
        if kind == 2:  # LC_SYMTAB
            entries = [struct.unpack_from("<IBBHQ", made, symbols + 16 * k) for k in range(count)]
            found = [made[names + place :] for place, what, *_ in entries if what & 0x0F == 1]
            return {text[: text.index(0)].decode() for text in found}
        at += size
    return set()


@pytest.mark.parametrize("target", TARGETS.values())
def test_what_fills_memory_is_the_librarys_own(target: Target, tmp_path: Path) -> None:
    made = library_of("fill", FILL, "q p q", target, tmp_path).read_bytes()
    if target.name.endswith("darwin"):
        assert asked_for(made) <= {"dyld_stub_binder"}, "which every library there names"
    else:
        assert b"memset" not in made
    assert b"/tmp/" not in made, "nor does it tell where it was made"
    if target is TARGET:
        x = np.full(9, 7.0)
        fill = getattr(ctypes.CDLL(str(tmp_path / "fill.so")), f"fill_{target.levels[0].name}")
        assert fill(ctypes.c_void_p(x.ctypes.data), ctypes.c_int64(8)) == 4
        np.testing.assert_array_equal(x, [1.5] * 4 + [0.0] * 4 + [7.0])


def test_a_kernel_that_calls_the_c_library_is_refused() -> None:
    assert TARGET is not None

    @kernel
    def root(x: float) -> float:
        return x**0.3

    lowered = lower(root, (REAL,))
    with pytest.raises(ValueError, match=r"root calls pow, which is not of the library's own text"):
        emit({lowered.symbol: lowered.text}, TARGET.triple, TARGET.levels[0])
