"""Functions by which joints follow others: values beside SciPy's and OpenSim's, derivatives, ranges and their ends."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import interpolate
from support.refusals import refused
from support.trees import composed

import poise as pz
from poise.common.errors import ModelError
from poise.model.followers import followers

X, Y = [-1.5, -0.9, -0.2, 0.1, 0.8], [0.3, -0.2, 0.5, 0.4, -0.6]
POLYNOMIAL = pz.JointFunction.polynomial([0.1, -0.5, 0.3, 0.2, -0.05], origin=0.3)
LINES = pz.JointFunction.piecewise_linear(X, Y)
SMOOTH = {
    "polynomial": POLYNOMIAL,
    "natural": pz.JointFunction.natural_spline(X, Y),
    "simm": pz.JointFunction.simm_spline(X, Y),
    "one after the other": pz.JointFunction.simm_spline(X, Y).after(POLYNOMIAL),
}
smooth = pytest.mark.parametrize("function", SMOOTH.values(), ids=SMOOTH)
AROUND = np.linspace(-2.5, 2.0, 46) + 0.013
OPENSIM = [
    (-2.0, 1.8355645019462299, -3.0711290038924597, 0.0),
    (-1.2, -0.23937127366079208, -0.67900641025641, 6.4304727480176),
    (-0.5, 0.257311243147018, 1.1867381764706055, -1.3460166287166144),
    (0.0, 0.46631536159140313, -0.529549014409811, -2.985147427945684),
    (0.3, 0.20397973398699834, -1.1734949717084726, -1.8779140074710565),
    (1.5, -2.0051869710460952, -2.007409958637279, 0.0),
]
"""x, and what OpenSim 4.6 says of SimmSpline(X, Y) there, and of its two derivatives."""


# Values -----------------------------------------------------------------------------------------------------------


def test_a_simm_spline_is_opensims() -> None:
    function = SMOOTH["simm"]
    for x, *expected in OPENSIM:
        ours = [function(x), function.derivative(x), function.derivative(x, 2)]
        np.testing.assert_allclose(ours, expected, rtol=0, atol=2e-14)


def test_a_simm_spline_is_a_cubic_where_all_points_are_on_one() -> None:
    cubic = np.polynomial.Polynomial([0.3, -1.0, 0.5, 0.7])
    function = pz.JointFunction.simm_spline(X, cubic(np.array(X)))
    inside = np.linspace(X[0], X[-1], 30)
    np.testing.assert_allclose(function(inside), cubic(inside), rtol=0, atol=1e-14)
    parabola = pz.JointFunction.simm_spline(X[:3], [0.5 * x * x - x for x in X[:3]])
    np.testing.assert_allclose(parabola(-1.0), 1.5, rtol=0, atol=1e-15)


def test_a_natural_spline_is_scipys_and_goes_straight_on_beyond_its_ends() -> None:
    function, theirs = SMOOTH["natural"], interpolate.CubicSpline(X, Y, bc_type="natural")
    inside = AROUND[(X[0] < AROUND) & (X[-1] > AROUND)]
    for order, ours in enumerate((function(inside), function.derivative(inside), function.derivative(inside, 2))):
        np.testing.assert_allclose(ours, theirs(inside, order), rtol=0, atol=1e-13)
    np.testing.assert_allclose(function(2.0), theirs(X[-1]) + 1.2 * theirs(X[-1], 1), rtol=0, atol=1e-14)
    np.testing.assert_allclose(function(-3.0), theirs(X[0]) - 1.5 * theirs(X[0], 1), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(function.derivative([2.0, -3.0], 2), 0.0)


def test_straight_pieces_are_numpys_and_go_on() -> None:
    inside = np.linspace(X[0], X[-1], 30)
    np.testing.assert_allclose(LINES(inside), np.interp(inside, X, Y), rtol=0, atol=1e-15)
    np.testing.assert_allclose(LINES(1.5), -0.6 - 0.7 / 0.7, rtol=0, atol=1e-15)
    assert float(LINES.derivative(0.1)) == pytest.approx(-1.0 / 0.7)  # of the piece that begins there


@pytest.mark.parametrize("kind", ["natural_spline", "simm_spline", "piecewise_linear"])
def test_two_points_make_a_line(kind: str) -> None:
    function = getattr(pz.JointFunction, kind)([1.0, 3.0], [2.0, 1.0])
    np.testing.assert_allclose(function([0.0, 1.0, 2.5, 5.0]), [2.5, 2.0, 1.25, 0.0], rtol=0, atol=1e-15)


def test_a_polynomial_is_in_powers_from_its_origin() -> None:
    theirs = np.polynomial.Polynomial([0.1, -0.5, 0.3, 0.2, -0.05])
    np.testing.assert_allclose(POLYNOMIAL(AROUND), theirs(AROUND - 0.3), rtol=0, atol=1e-13)
    assert pz.JointFunction.polynomial([0.5, -2.0]).linear == (-2.0, 0.5)
    assert pz.JointFunction.polynomial([0.5, -2.0], origin=1.0).linear == (-2.0, 2.5)
    assert POLYNOMIAL.linear is None


@smooth
def test_derivatives_are_those_of_the_values(function: pz.JointFunction) -> None:
    h = 1e-5
    slopes = (function(AROUND + h) - function(AROUND - h)) / (2.0 * h)
    bends = (function.derivative(AROUND + h) - function.derivative(AROUND - h)) / (2.0 * h)
    np.testing.assert_allclose(function.derivative(AROUND), slopes, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(function.derivative(AROUND, 2), bends, rtol=1e-7, atol=1e-7)


def test_of_multiples_one_after_the_other_is_a_multiple() -> None:
    one, other = pz.JointFunction.polynomial([0.1, -0.5]), pz.JointFunction.polynomial([1.0, 2.0])
    assert one.after(other).linear == (-1.0, -0.4)
    still = pz.JointFunction.polynomial([0.3])
    assert still.after(POLYNOMIAL).linear == (0.0, 0.3)
    assert POLYNOMIAL.after(still).linear == (0.0, float(POLYNOMIAL(0.3)))
    assert POLYNOMIAL.after(pz.JointFunction.polynomial([0.0, 1.0])) is POLYNOMIAL


# Ranges -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [*SMOOTH.values(), LINES], ids=[*SMOOTH, "lines"])
@given(ends=st.tuples(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0)), bounds=st.tuples(st.floats(-1, 1), st.floats(-1, 1)))
def test_ranges_are_those_of_many_samples(
    function: pz.JointFunction, ends: tuple[float, float], bounds: tuple[float, float]
) -> None:
    (lower, upper), (least, most) = sorted(ends), sorted(bounds)
    x = np.linspace(lower, upper, 2001)
    values = function(x)
    low, high = function.image(lower, upper)
    near = 1e-2 * max(1.0, float(np.abs(values).max()))
    assert low - 1e-12 <= values.min() <= low + near
    assert high - near <= values.max() <= high + 1e-12
    steepest = function.steepest(lower, upper)
    assert np.abs(function.derivative(x)).max() <= steepest * (1.0 + 1e-12)
    kept = (least <= values) & (values <= most)
    found = function.preimage(least, most, lower, upper)
    if found is None:
        assert not kept.any()
        return
    a, b = found
    assert lower <= a <= b <= upper
    inside = function(np.linspace(a, b, 501))
    assert (inside >= least - 1e-12).all()
    assert (inside <= most + 1e-12).all()
    assert least <= float(function(a)) <= most
    assert least <= float(function(b)) <= most
    for end, out in ((a, -1e-6), (b, 1e-6)):  # it ends where a limit does
        beyond = end + out
        assert not lower < beyond < upper or not least + 1e-9 <= float(function(beyond)) <= most - 1e-9
    nearest = min((abs(z) for z in x[kept]), default=math.inf)
    assert max(a, -b, 0.0) <= nearest


def test_of_several_intervals_the_one_nearest_to_0_is_taken() -> None:
    square = pz.JointFunction.polynomial([0.0, 0.0, 1.0], origin=-0.5)
    assert square.preimage(1.0, 4.0, -3.0, 1.25) == pytest.approx((0.5, 1.25), abs=1e-15)
    assert square.preimage(1.0, 4.0, -1.75, 0.0) == pytest.approx((-1.75, -1.5), abs=1e-15)
    assert square.preimage(-1.0, 4.0, -math.inf, math.inf) == pytest.approx((-2.5, 1.5), abs=1e-15)
    assert square.preimage(-1.0, math.inf, -math.inf, math.inf) == (-math.inf, math.inf)
    assert square.preimage(-2.0, -1.0, -math.inf, math.inf) is None


# One among others -------------------------------------------------------------------------------------------------


@smooth
def test_it_is_a_value(function: pz.JointFunction) -> None:
    copies = [
        pickle.loads(pickle.dumps(function)),
        eval(repr(function), {"JointFunction": pz.JointFunction, "math": math}),
    ]
    for again in copies:
        assert again == function
        assert hash(again) == hash(function)
        np.testing.assert_array_equal(again(AROUND), function(AROUND))
    assert function != LINES
    with pytest.raises(AttributeError, match="does not change"):
        function._stages = ()


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda: pz.JointFunction.polynomial([0.0] * 6), "out-of-range", "degree 4, got 6"),
        (lambda: pz.JointFunction.polynomial([math.nan, 1.0]), "not-finite", "coefficients[0] is nan"),
        (lambda: pz.JointFunction.polynomial([]), "wrong-shape", "coefficients must be a list of numbers"),
        (lambda: pz.JointFunction.polynomial([1e300]), "out-of-range", "numbers up to"),
        (lambda: pz.JointFunction.natural_spline([0.0], [1.0]), "wrong-shape", "two or more, got 1 and 1"),
        (lambda: pz.JointFunction.simm_spline([0, 1, 2], [1, 2]), "wrong-shape", "got 3 and 2"),
        (lambda: pz.JointFunction.piecewise_linear([0, 1, 1], [1, 2, 3]), "out-of-range", "x[2] = 1 follows 1"),
        (lambda: LINES.derivative(0.0, 3), "out-of-range", "order must be 1 or 2"),
    ],
)
def test_what_is_no_function_is_refused(make: Any, code: str, words: str) -> None:
    with refused(code, words):
        make()


# In models --------------------------------------------------------------------------------------------------------


def slider(mimic: pz.Mimic, *, limits: Any = (-2.0, 2.0), own: Any = (-1.0, 1.0), **more: Any) -> pz.ModelBuilder:
    """A wheel, and a slide before it in the file, on another branch, that follows it."""
    b = pz.ModelBuilder("slider")
    b.joint("slide", "prismatic", parent="base", child="cart", axis=(1, 0, 0), limits=own, mimic=mimic, **more)
    b.joint("wheel", "revolute", parent="base", child="rim", limits=limits)
    return b


CUBE = pz.JointFunction.polynomial([0.0, 0.0, 0.0, 1.0])


def test_limits_of_a_follower_are_its_leaders() -> None:
    model = slider(pz.Mimic(joint="wheel", function=CUBE), own=(-1.0, 0.125), velocity=3.0).build()
    assert (model.lower[0], model.upper[0]) == pytest.approx((-1.0, 0.5), abs=1e-15)
    assert CUBE(model.upper[0]) <= 0.125
    assert CUBE(model.lower[0]) >= -1.0
    assert model.velocity[0] == pytest.approx(1.0)  # of a slope of 3 at -1
    assert model.named([0.5]) == {"wheel": 0.5, "slide": 0.125}
    np.testing.assert_array_equal(model.q(slide=0.125, wheel=0.5), [0.5])
    assert model.pose("cart", [-0.5]).xyz[0] == -0.125
    with refused("inconsistent", "it mimics wheel"):
        model.q(slide=0.2, wheel=0.5)


def test_whole_turns_count_where_a_function_is_not_linear() -> None:
    model = slider(pz.Mimic(joint="wheel", function=SMOOTH["natural"]), limits=(-20.0, 20.0), own=(-90, 90)).build()
    answer = pz.solve(model, pz.PositionTask("cart", target=model.pose("cart", [9.0]).xyz), q0=[8.0])
    assert answer.q[0] == pytest.approx(9.0, abs=1e-4)


def test_a_locked_leader_holds_its_followers() -> None:
    model = slider(pz.Mimic(joint="wheel", function=CUBE)).build()
    still = model.lock(wheel=0.5)
    assert still.nq == 0
    np.testing.assert_allclose(still.pose("cart", []).xyz, [0.125, 0.0, 0.0], rtol=0, atol=1e-15)


def test_a_function_beside_a_multiplier_or_what_is_none_is_refused() -> None:
    with pytest.raises(ModelError, match="has a multiplier or an offset too; let the function have them"):
        slider(pz.Mimic(joint="wheel", multiplier=2.0, function=CUBE))
    with pytest.raises(ModelError, match="which is no JointFunction"):
        slider(pz.Mimic(joint="wheel", function=math.sin))  # type: ignore[arg-type]
    for other in ("wheel", ("wheel", 2.0)):
        with pytest.raises(ModelError, match=r"give it a Mimic, as in Mimic\(joint='wheel', multiplier=2.0\)"):
            slider(other)  # type: ignore[arg-type]


def test_limits_that_no_position_keeps_are_refused() -> None:
    square = pz.JointFunction.polynomial([0.5, 0.0, 1.0])
    with pytest.raises(ModelError, match="have no position in common; widen one, or correct how it follows"):
        slider(pz.Mimic(joint="wheel", function=square), own=(-1.0, 0.4)).build()


def test_a_speed_that_nothing_bounds_is_refused() -> None:
    free = (-math.inf, math.inf)
    with pytest.raises(ModelError, match="which has no limits, as steeply as one likes; give 'wheel' limits"):
        slider(pz.Mimic(joint="wheel", function=CUBE), limits=free, own=free, velocity=1.0).build()
    assert slider(pz.Mimic(joint="wheel", function=CUBE), limits=free, own=free).build().farthest[0] == 2.0**16
    with pytest.raises(ModelError, match=r"slopes up to 1\.2e"):
        slider(pz.Mimic(joint="wheel", function=pz.JointFunction.polynomial([0, 0, 0, 1e6])), own=free).build()


def test_what_a_file_leaves_of_a_leader_gives_way_or_is_told() -> None:
    square = pz.JointFunction.polynomial([0.5, 0.0, 1.0])
    joints = {j.name: j for j in slider(pz.Mimic(joint="wheel", function=square), own=(-1.0, 0.4))._joints.values()}
    found = followers(joints)
    assert found.giving_way == ("slide",)
    assert "'wheel' would keep nothing of -2 to 2" in found.remarks[0][0]
    joints = {j.name: j for j in slider(pz.Mimic(joint="wheel", function=square), own=(-1.0, 1.5))._joints.values()}
    assert "'wheel' keeps -1 to 1 of -2 to 2" in followers(joints).remarks[0][0]


def test_several_follow_one_that_moves_nothing_wherever_they_stand() -> None:
    """As coordinates of OpenSim do, whose joints have six axes, of which several are splines of one coordinate."""
    b = pz.ModelBuilder("knee")
    b.joint("tx", "prismatic", parent="femur", child="k1", axis=(1, 0, 0),
            mimic=pz.Mimic(joint="bend", function=SMOOTH["simm"]))  # fmt: skip
    b.joint("ty", "prismatic", parent="k1", child="k2", axis=(0, 1, 0), mimic=pz.Mimic(joint="beta", function=LINES))
    b.joint("turn", "revolute", parent="k2", child="tibia", axis=(0, 0, 1), mimic=pz.Mimic(joint="bend"))
    b.joint("beta", "revolute", parent="base", child="patella", mimic=pz.Mimic(joint="bend", function=POLYNOMIAL))
    b.joint("bend", "revolute", parent="base", child="nothing", limits=(-1.0, 1.0))
    b.joint("hip", "revolute", parent="base", child="femur", axis=(0, 1, 0))
    knee = b.build()
    assert knee.joint_names == ("bend", "hip")
    for q in knee.sample(5, seed=3):
        for link in knee.links:
            there = composed(knee, link, q).matrix()
            np.testing.assert_allclose(knee.pose(link, q).matrix(), there, rtol=0, atol=1e-15)
    assert not knee.jacobian("nothing", knee.home)[:3].any()
    target = knee.pose("tibia", [0.7, -0.3])
    assert pz.solve(knee, pz.PoseTask("tibia", target=target)).q == pytest.approx([0.7, -0.3], abs=1e-3)


def test_a_model_with_functions_survives_a_pickle_and_is_drawn_in_words() -> None:
    model = slider(pz.Mimic(joint="wheel", function=CUBE)).build()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.pose("cart", [0.3]).array, model.pose("cart", [0.3]).array)
    assert "= f(wheel)" in str(model)
