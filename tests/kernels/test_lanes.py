"""The two widths of a kernel: eight lanes compute what eight single numbers do, and what NumPy does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kept import kept

from poise.common.array import Array
from poise.kernels.machine import lanes, views
from poise.kernels.machine.jit import kernel, plain
from poise.kernels.machine.lanes import (
    any_of,
    floor,
    fma,
    load,
    rint,
    select,
    splat,
    sqrt,
    store,
    workspace,
)
from poise.kernels.machine.layout import WIDTH
from poise.kernels.machine.views import section

compiled = kept(_nrt=False, error_model="numpy")
PLAIN = {name: plain(getattr(lanes, name)) for name in ("select", "any_of", "sqrt", "floor", "rint")}
numbers = st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, np.inf, -np.inf, np.nan, 1e-300])
rows = st.lists(numbers, min_size=WIDTH, max_size=WIDTH).map(np.array)


@kernel
def _every_operation(x, out):
    """Each operation of the lanes alone, on rows 0 and 1 of `x`, and on a number where one side may be one."""
    a, b = load(x, 0), load(x, 1)
    store(out, 0, a + b), store(out, 1, a - b), store(out, 2, a * b), store(out, 3, a / b)
    store(out, 4, a + 2.5), store(out, 5, a - 2.5), store(out, 6, a * 2.5), store(out, 7, a / 2.5)
    store(out, 8, 2.5 + a), store(out, 9, 2.5 - a), store(out, 10, 2.5 * a), store(out, 11, 2.5 / a)
    store(out, 12, a + 3), store(out, 13, 3 - a), store(out, 14, -a)
    store(out, 15, select(a < b, 1.0, 0.0)), store(out, 16, select(a <= b, 1.0, 0.0))
    store(out, 17, select(a > b, 1.0, 0.0)), store(out, 18, select(a >= b, 1.0, 0.0))
    store(out, 19, select(a < 0.5, 1.0, 0.0)), store(out, 20, select(a > 0.5, 1, 0))
    store(out, 21, select((a < b) & (a < 0.5), 1.0, 0.0)), store(out, 22, select((a < b) | (a < 0.5), 1.0, 0.0))
    store(out, 23, select(a < b, a, b)), store(out, 24, select(a < b, a, -7.0)), store(out, 25, select(a < b, 7.0, b))
    store(out, 26, sqrt(a)), store(out, 27, floor(a)), store(out, 28, rint(a))
    store(out, 29, splat(x, 4.25)), store(out, 30, 4.25), store(out, 31, 4)
    store(out, 32, a)


ROWS = 33


def expected(a: Array, b: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.stack(
            [
                *(a + b, a - b, a * b, a / b),
                *(a + 2.5, a - 2.5, a * 2.5, a / 2.5),
                *(2.5 + a, 2.5 - a, 2.5 * a, 2.5 / a),
                *(a + 3, 3 - a, -a),
                *(a < b, a <= b, a > b, a >= b),
                *(a < 0.5, a > 0.5),
                *((a < b) & (a < 0.5), (a < b) | (a < 0.5)),
                *(np.where(a < b, a, b), np.where(a < b, a, -7.0), np.where(a < b, 7.0, b)),
                *(np.sqrt(a), np.floor(a), np.rint(a)),
                *(np.full(WIDTH, 4.25), np.full(WIDTH, 4.25), np.full(WIDTH, 4.0)),
                a,
            ]
        )


@compiled
def every_operation(x, out):
    _every_operation(x, out)


@given(rows, rows)
def test_each_operation_in_either_width_is_numpys(a: Array, b: Array) -> None:
    x, out = np.stack([a, b]), np.zeros((ROWS, WIDTH))
    every_operation(x, out)
    np.testing.assert_allclose(out, expected(a, b), rtol=5e-16, atol=0)
    for lane in range(WIDTH):
        single = np.zeros(ROWS)
        every_operation(np.ascontiguousarray(x[:, lane]), single)
        np.testing.assert_allclose(single, expected(a, b)[:, lane], rtol=5e-16, atol=0)


@given(rows, rows)
def test_the_plain_bodies_say_what_the_compiled_ones_do(a: Array, b: Array) -> None:
    with np.errstate(all="ignore"):
        for name in ("sqrt", "floor", "rint"):
            np.testing.assert_array_equal(PLAIN[name](a), getattr(np, name)(a))
        np.testing.assert_array_equal(PLAIN["select"](a < b, a, b), np.where(a < b, a, b))
    assert PLAIN["any_of"](a < b) is bool((a < b).any())
    assert np.ndim(PLAIN["select"](True, 1.0, 2.0)) == 0


@kernel
def _any_above(x, limit):
    return any_of(load(x, 0) > limit)


@compiled
def any_above(x, limit):
    return _any_above(x, limit)


@given(st.lists(st.booleans(), min_size=WIDTH, max_size=WIDTH))
def test_any_of_sees_every_lane(flags: list[bool]) -> None:
    assert any_above(np.array([flags], dtype=np.float64), 0.5) == any(flags)
    assert any_above(np.array(flags[:1], dtype=np.float64), 0.5) == flags[0]


def test_a_number_that_is_none_is_in_no_order() -> None:
    assert not any_above(np.full((1, WIDTH), np.nan), -np.inf)
    assert not any_above(np.full(1, np.nan), -np.inf)
    out = np.zeros((ROWS, WIDTH))
    every_operation(np.full((2, WIDTH), np.nan), out)
    np.testing.assert_array_equal(out[15:23], 0.0)
    assert np.isnan(out[:12]).all()


@compiled
def fused(x, out):
    a, b, c = load(x, 0), load(x, 1), load(x, 2)
    store(out, 0, fma(a, b, c)), store(out, 1, fma(a, 3.0, c)), store(out, 2, fma(2.0, b, 1.0))


def test_a_fused_product_is_rounded_once() -> None:
    tiny = 2.0**-30
    a, b = np.full(WIDTH, 1.0 + tiny), 1.0 - tiny * np.arange(1.0, WIDTH + 1.0)
    c, out = np.full(WIDTH, -1.0), np.zeros((3, WIDTH))
    # Of (1 + t)(1 - k t) - 1 = (1 - k) t - k t^2 the last term is lost when the product is rounded first.
    k = np.arange(1.0, WIDTH + 1.0)
    expected = (1.0 - k) * tiny - k * tiny**2
    fused(np.stack([a, b, c]), out)
    np.testing.assert_array_equal(out, [expected, 3.0 * a - 1.0, 2.0 * b + 1.0])
    for lane in range(WIDTH):
        single = np.zeros(3)
        fused(np.array([a[lane], b[lane], c[lane]]), single)
        np.testing.assert_array_equal(single, out[:, lane])


# Places in a workspace -------------------------------------------------------------------------------------------


@compiled
def double_middle(work, start, count, out):
    part = section(work, start, count)
    for i in range(len(part)):
        store(out, i, load(part, i))
        store(part, i, load(part, i) * 2.0)
    return len(part)


@pytest.mark.parametrize("width", [(), (WIDTH,)])
@pytest.mark.parametrize(("start", "count"), [(0, 7), (2, 3), (6, 1), (7, 0)])
def test_a_section_is_a_view_of_some_rows(width: tuple[int, ...], start: int, count: int) -> None:
    rng = np.random.default_rng(0)
    work, out = rng.normal(size=(7, *width)), np.zeros((7, *width))
    before = work.copy()
    assert double_middle(work, start, count, out) == count
    np.testing.assert_array_equal(out[:count], before[start : start + count])
    before[start : start + count] *= 2.0
    np.testing.assert_array_equal(work, before)
    np.testing.assert_array_equal(plain(views.section)(work, start, count), work[start : start + count])


def test_a_section_of_a_section_counts_from_it() -> None:
    @compiled
    def nested(work, out):
        inner = section(section(work, 2, 5), 1, 2)
        store(out, 0, load(inner, 0))
        store(out, 1, load(inner, 1))

    work, out = np.arange(8.0 * WIDTH).reshape(8, WIDTH), np.zeros((2, WIDTH))
    nested(work, out)
    np.testing.assert_array_equal(out, work[3:5])


# A kernel of many operations -------------------------------------------------------------------------------------


@kernel
def _newton(x, out):
    """Cube roots by a loop that runs on until every lane has settled."""
    a = load(x, 0)
    r = splat(x, 1.0)
    while any_of((r * r * r - a > 1e-12) | (a - r * r * r > 1e-12)):
        r = r - (r * r * r - a) / (3.0 * r * r)
    store(out, 0, r)


@compiled
def newton(x, out):
    _newton(x, out)


def test_a_loop_ends_when_every_lane_is_done() -> None:
    a = np.array([0.125, 0.5, 1.0, 2.0, 3.0, 8.0, 27.0, 64.0])
    out = np.zeros((1, WIDTH))
    newton(a[None], out)
    np.testing.assert_allclose(out[0], np.cbrt(a), rtol=1e-12)
    for value, root in zip(a, np.cbrt(a), strict=True):
        single = np.zeros(1)
        newton(np.array([value]), single)
        np.testing.assert_allclose(single[0], root, rtol=1e-12)


@pytest.mark.parametrize("shape", [(1,), (1000,), (3, WIDTH), (777, WIDTH)])
def test_a_workspace_begins_a_line_of_the_cache(shape: tuple[int, ...]) -> None:
    for _ in range(20):
        work = workspace(*shape)
        assert work.shape == shape
        assert work.flags.c_contiguous
        assert work.ctypes.data % 64 == 0
        assert not work.any()
