"""The table of holes: what of what must hold, and of what may be wanted, each function does not take yet.

What is not named holds; `test_cells` tries all of it, and what is named too, so that nothing is refused any longer than
it has to be.  A name is a requirement or something wanted, `a+b` two of them together.
"""

from typing import Final

NEVER: Final = {
    ("solve", "solve_batch", "solve_all"): (
        ("speeds", "accelerations", "jerks", "twists"), "an answer by itself has no time"
    ),
}  # fmt: skip
"""What functions cannot do by the nature of things, and why."""

OPEN: Final = {
    "solve_path": (
        "twists linear loops soft levels posture positions+twists positions+linear positions+loops positions+soft "
        "positions+levels positions+posture balls+linear balls+shapes balls+soft balls+levels balls+posture "
        "speeds+twists speeds+linear speeds+loops speeds+soft speeds+levels speeds+posture accelerations+twists "
        "accelerations+linear accelerations+loops accelerations+soft accelerations+levels accelerations+posture "
        "jerks+twists jerks+linear jerks+loops jerks+soft jerks+levels jerks+posture twists+linear twists+shapes "
        "twists+ranges twists+soft twists+levels twists+posture linear+shapes linear+ranges linear+loops linear+soft "
        "linear+levels linear+posture shapes+loops shapes+soft shapes+levels shapes+posture ranges+loops ranges+soft "
        "ranges+levels ranges+posture loops+soft loops+levels loops+posture "
    ),
    "plan": (
        "balls twists linear loops soft levels posture positions+balls positions+twists positions+linear "
        "positions+loops positions+soft positions+levels positions+posture balls+speeds balls+accelerations "
        "balls+jerks balls+linear balls+shapes balls+ranges balls+soft balls+levels balls+posture speeds+twists "
        "speeds+linear speeds+loops speeds+soft speeds+levels speeds+posture accelerations+twists "
        "accelerations+linear accelerations+loops accelerations+soft accelerations+levels accelerations+posture "
        "jerks+twists jerks+linear jerks+loops jerks+soft jerks+levels jerks+posture twists+linear twists+shapes "
        "twists+ranges twists+soft twists+levels twists+posture linear+shapes linear+ranges linear+loops linear+soft "
        "linear+levels linear+posture shapes+loops shapes+soft shapes+levels shapes+posture ranges+loops ranges+soft "
        "ranges+levels ranges+posture loops+soft loops+levels loops+posture "
    ),
    "Tracker(explore=True)": (
        "balls jerks twists ranges loops posture positions+balls positions+jerks positions+twists positions+ranges "
        "positions+loops positions+posture balls+speeds balls+accelerations balls+jerks balls+linear balls+shapes "
        "balls+ranges balls+soft balls+levels balls+posture speeds+jerks speeds+twists speeds+ranges speeds+loops "
        "speeds+posture accelerations+jerks accelerations+twists accelerations+ranges accelerations+loops "
        "accelerations+posture jerks+twists jerks+linear jerks+shapes jerks+ranges jerks+loops jerks+soft "
        "jerks+levels jerks+posture twists+linear twists+shapes twists+ranges twists+soft twists+levels "
        "twists+posture linear+ranges linear+loops linear+posture shapes+ranges shapes+loops shapes+soft "
        "shapes+posture ranges+loops ranges+soft ranges+levels ranges+posture loops+soft loops+levels loops+posture "
    ),
}
"""What functions do not keep yet."""

METHODS: Final = {
    "jt": ("soft levels posture "),
    "pinv": ("soft levels posture "),
    "dls": ("soft levels "),
    "sdls": ("soft levels posture "),
    "filtered": ("soft levels posture "),
    "gn": ("soft levels posture "),
    "lm": ("soft levels posture "),
    "halley": ("soft levels posture "),
    "hybrid": ("soft levels posture "),
    "ccd": ("ranges loops soft levels posture "),
    "fabrik": ("positions balls speeds accelerations jerks twists linear shapes ranges loops soft levels posture "),
    "qp": ("soft levels posture "),
    "bfgs": ("positions balls speeds accelerations jerks twists linear shapes ranges loops soft levels posture "),
    "lbfgs": ("soft levels posture "),
    "das": ("soft levels posture "),
    "extended": ("ranges loops soft levels posture "),
    "pairwise": ("ranges loops soft levels posture "),
}
"""What a step of each method does not keep yet."""
