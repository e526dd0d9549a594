"""The product and sum of a CPU without an instruction for it is rounded once like that of others, or nearly so."""

import ctypes
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from poise.build.linking import link
from poise.build.objects import emit
from poise.build.targets import TARGETS, Level
from poise.common.array import Array
from poise.kernels.machine.library import machine

TEXT = """
declare double @llvm.fma.f64(double, double, double)
declare <8 x double> @llvm.fma.v8f64(<8 x double>, <8 x double>, <8 x double>)

define void @products(ptr %a, ptr %b, ptr %c, ptr %one, ptr %eight) {
  %a8 = load <8 x double>, ptr %a, align 8
  %b8 = load <8 x double>, ptr %b, align 8
  %c8 = load <8 x double>, ptr %c, align 8
  %eight8 = call <8 x double> @llvm.fma.v8f64(<8 x double> %a8, <8 x double> %b8, <8 x double> %c8)
  store <8 x double> %eight8, ptr %eight, align 8
  %a1 = load double, ptr %a
  %b1 = load double, ptr %b
  %c1 = load double, ptr %c
  %one1 = call double @llvm.fma.f64(double %a1, double %b1, double %c1)
  store double %one1, ptr %one
  ret void
}
"""

TARGET = TARGETS.get(machine())


def rounded(exact: Fraction) -> float:
    """The nearest double: Python divides whole numbers so."""
    return exact.numerator / exact.denominator


def compiled(level: Level, folder: Path) -> Callable[[Array, Array, Array], tuple[float, Array]]:
    """The product and sum of the first three numbers, and of all eight triples, as this level has them."""
    assert TARGET is not None
    made, library = folder / "products.o", folder / "products.so"
    made.write_bytes(emit({"products": TEXT}, TARGET.triple, level))
    link([made], "", {"products": "v p p p p p"}, replace(TARGET, levels=(level,)), library)
    products = ctypes.CDLL(str(library))[f"products_{level.name}"]

    def ours(a: Array, b: Array, c: Array) -> tuple[float, Array]:
        one, eight = np.zeros(1), np.zeros(8)
        products(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c, one, eight)))
        return float(one[0]), eight

    return ours


def triples() -> Iterator[tuple[Array, Array, Array]]:
    """Numbers of which the sum cancels, nearly cancels, is a half of the last place away, or is of another size."""
    rng = np.random.default_rng(7)
    for k in range(2000):
        a, b = (rng.normal(size=8) * 10.0 ** rng.uniform(-20, 20, 8) for _ in range(2))
        c = -a * b * rng.choice([1.0, 1.0 + 2.0**-52, 1.0 - 2.0**-30, 0.5, 2.0**-53, 1e-30, 1e30], 8)
        if k % 4 == 0:
            a, b = np.ldexp(np.rint(a), 0), 1.0 + np.ldexp(rng.integers(0, 4, 8).astype(float), -52)
            c = a * rng.choice([2.0**-53, -(2.0**-53), 2.0**-54, 0.0], 8)
        yield a, b, c


def exactly(a: Array, b: Array, c: Array) -> list[float]:
    return [rounded(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in zip(a, b, c, strict=True)]


without = pytest.mark.skipif(TARGET is None or TARGET.levels[0].fma, reason="no CPU without it is built for here")


@without
def test_products_are_rounded_once(tmp_path: Path) -> None:
    assert TARGET is not None
    ours = compiled(TARGET.levels[0], tmp_path)
    for a, b, c in triples():
        one, eight = ours(a, b, c)
        np.testing.assert_array_equal(eight, exactly(a, b, c))
        assert struct.pack("d", one) == struct.pack("d", eight[0])


@without
def test_those_that_need_not_be_exact_are_so_where_the_sum_cancels(tmp_path: Path) -> None:
    assert TARGET is not None
    ours = compiled(replace(TARGET.levels[0], exact=False), tmp_path)
    for a, b, c in triples():
        one, eight = ours(a, b, c)
        exact = np.array(exactly(a, b, c))
        cancels = np.abs(a * b + c) <= 0.5 * np.abs(c)
        np.testing.assert_array_equal(eight[cancels], exact[cancels])
        assert (np.abs(eight - exact) <= 1.5 * np.spacing(np.abs(exact))).all()
        assert struct.pack("d", one) == struct.pack("d", eight[0])
