"""The product and sum of a CPU without an instruction for it is rounded once, like that of one which has it."""

import ctypes
import struct
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from poise.build.linking import link
from poise.build.objects import emit
from poise.build.targets import TARGETS
from poise.kernels.library import machine
from poise.spatial import Array

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


@pytest.mark.skipif(TARGET is None or TARGET.levels[0].fma, reason="no CPU without it is built for here")
def test_products_are_rounded_once(tmp_path: Path) -> None:
    assert TARGET is not None
    made = tmp_path / "products.o"
    made.write_bytes(emit(TEXT, "products", TARGET.triple, TARGET.levels[0]))
    link([made], "", TARGET, tmp_path / "products.so")
    products = ctypes.CDLL(str(tmp_path / "products.so")).products_v2

    def ours(a: Array, b: Array, c: Array) -> tuple[float, Array]:
        one, eight = np.zeros(1), np.zeros(8)
        products(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c, one, eight)))
        return float(one[0]), eight

    rng = np.random.default_rng(7)
    for k in range(2000):
        a, b = (rng.normal(size=8) * 10.0 ** rng.uniform(-20, 20, 8) for _ in range(2))
        # What cancels, nearly cancels, is a half of the last place away, or is of another size.
        c = -a * b * rng.choice([1.0, 1.0 + 2.0**-52, 1.0 - 2.0**-30, 0.5, 2.0**-53, 1e-30, 1e30], 8)
        if k % 4 == 0:
            a, b = np.ldexp(np.rint(a), 0), 1.0 + np.ldexp(rng.integers(0, 4, 8).astype(float), -52)
            c = a * rng.choice([2.0**-53, -(2.0**-53), 2.0**-54, 0.0], 8)
        one, eight = ours(a, b, c)
        exact = [rounded(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in zip(a, b, c, strict=True)]
        np.testing.assert_array_equal(eight, exact)
        assert struct.pack("d", one) == struct.pack("d", eight[0])
