"""Small models of OpenSim, as the texts of their files: one with every plain joint, and legs of both versions."""

from collections.abc import Sequence
from pathlib import Path

OPENSIM = Path(__file__).parents[3] / ".venv" / "opensim" / "bin" / "python"
"""OpenSim's own package, in an environment of its own; `make .venv/opensim` makes it."""

PLAIN = {
    "FreeJoint": ("fx", "fy", "fz", "tx", "ty", "tz"),
    "PinJoint": ("pin",),
    "SliderJoint": ("slide",),
    "UniversalJoint": ("u1", "u2"),
    "BallJoint": ("b1", "b2", "b3"),
    "GimbalJoint": ("g1", "g2", "g3"),
    "PlanarJoint": ("turn", "along", "across"),
    "WeldJoint": (),
}
"""Coordinates by the kind of a joint, in a row from the ground."""


def coordinate(
    name: str, *, default: float = 0.0, limits: str = "-3 3", clamped: bool = False, locked: bool = False
) -> str:
    return (
        f'<Coordinate name="{name}"><default_value>{default}</default_value><range>{limits}</range>'
        f"<clamped>{str(clamped).lower()}</clamped><locked>{str(locked).lower()}</locked></Coordinate>\n"
    )


def joint(
    kind: str, name: str, parent: str, child: str, coordinates: Sequence[str], inner: str = "",
    places: tuple[str, str] = ("0.1 0.2 -0.1", "0 -0.15 0.05"),
    turns: tuple[str, str] = ("0.1 0.2 0.3", "-0.2 0.4 0.1"),
) -> str:  # fmt: skip
    """A joint of version 4, between two frames of its own."""
    frames = "".join(
        f'<PhysicalOffsetFrame name="{name}_{side}"><socket_parent>{body}</socket_parent>'
        f"<translation>{place}</translation><orientation>{turn}</orientation></PhysicalOffsetFrame>\n"
        for side, body, place, turn in zip(("parent", "child"), (parent, child), places, turns, strict=True)
    )
    return (
        f'<{kind} name="{name}"><socket_parent_frame>{name}_parent</socket_parent_frame>'
        f"<socket_child_frame>{name}_child</socket_child_frame><coordinates>{''.join(coordinates)}</coordinates>"
        f"<frames>{frames}</frames>{inner}</{kind}>\n"
    )


def older_joint(kind: str, name: str, parent: str, coordinates: Sequence[str], inner: str = "", more: str = "") -> str:
    """A joint of versions before 4, which stands in its body."""
    return (
        f'<Joint><{kind} name="{name}"><parent_body>{parent}</parent_body>'
        "<location_in_parent>0.1 0.2 -0.1</location_in_parent>"
        "<orientation_in_parent>0.1 0.2 0.3</orientation_in_parent>"
        "<location>0 -0.15 0.05</location><orientation>-0.2 0.4 0.1</orientation>"
        f"<CoordinateSet><objects>{''.join(coordinates)}</objects></CoordinateSet>{inner}{more}</{kind}></Joint>\n"
    )


def transform(axes: Sequence[tuple[str, str, str]], *, older: bool = False) -> str:
    """A SpatialTransform of six axes: coordinate, direction, function."""
    names = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")
    inner = "".join(
        f'<TransformAxis name="{name}"><coordinates>{of}</coordinates><axis>{axis}</axis>'
        f"{f'<function>{function}</function>' if older else named_function(function)}</TransformAxis>\n"
        for name, (of, axis, function) in zip(names, axes, strict=True)
    )
    return f"<SpatialTransform>{inner}</SpatialTransform>"


def named_function(text: str) -> str:
    kind = text[1 : text.index(">")]
    return text.replace(f"<{kind}>", f'<{kind} name="function">', 1)


def constant(value: float) -> str:
    return f"<Constant><value>{value}</value></Constant>"


def linear(slope: float = 1.0, offset: float = 0.0) -> str:
    return f"<LinearFunction><coefficients>{slope} {offset}</coefficients></LinearFunction>"


def points(kind: str, x: str, y: str) -> str:
    return f"<{kind}><x>{x}</x><y>{y}</y></{kind}>"


def scaled(function: str, scale: float) -> str:
    return f"<MultiplierFunction><function>{function}</function><scale>{scale}</scale></MultiplierFunction>"


PELVIS = [
    ("tilt", "0 0 1", linear()), ("list", "1 0 0", linear()), ("rotation", "0 1 0", linear()),
    ("px", "1 0 0", linear()), ("py", "0 1 0", linear()), ("pz", "0 0 1", linear()),
]  # fmt: skip
KNEE = [
    ("knee", "0 0 1", linear()),
    ("knee", "0 1 0", points("SimmSpline", "-2 -1.4 -0.8 -0.1 0.2", "0.1 0.06 0.03 0.01 0")),
    ("", "1 0 0", constant(0.05)),
    ("knee", "1 0 0", scaled(points("SimmSpline", "-2 -1.2 -0.4 0.3", "-0.03 0.01 0.02 0.04"), 1.1)),
    ("knee", "0.6 0.8 0", points("NaturalCubicSpline", "-2 -1 0 0.3", "-0.2 -0.35 -0.4 -0.41")),
    ("", "0 0 1", scaled(constant(0.02), 0.5)),
]  # fmt: skip
PATELLA = [
    ("beta", "0 0 1", linear(0.5, 0.1)), ("", "0 1 0", constant(0)), ("", "1 0 0", constant(0)),
    ("beta", "1 0 0", points("PiecewiseLinearFunction", "-2 -1 1", "0.05 0.04 -0.02")), ("", "0 1 0", constant(0.1)),
    ("beta", "0 0 1", "<PolynomialFunction><coefficients>0.01 0 -0.02 0.03 0.001</coefficients></PolynomialFunction>"),
]  # fmt: skip
FOOT = [
    ("ankle", "0.1 0.17 0.98", linear(-1.0)), ("subtalar", "0.79 0.6 -0.12", linear()), ("", "0 1 0", constant(0)),
    ("", "1 0 0", constant(0)), ("", "0 1 0", constant(-0.4)), ("", "0 0 1", constant(0)),
]  # fmt: skip
COUPLER = (
    '<CoordinateCouplerConstraint name="patella_con">{on}<coupled_coordinates_function>'
    + linear(0.8, 0.05)
    + "</coupled_coordinates_function><independent_coordinate_names>knee</independent_coordinate_names>"
    "<dependent_coordinate_name>beta</dependent_coordinate_name><scale_factor>1.2</scale_factor>"
    "</CoordinateCouplerConstraint>"
)
INERTIA = "<inertia>1 1 1 0 0 0</inertia>"
LEG = ("pelvis", "shank", "patella", "foot")
PLACES = ("0.1 0.2 0.3", "-0.2 0.1 0.05", "0.05 -0.15 -0.1")


def markers(bodies: Sequence[str], *, older: bool = False) -> str:
    """Three on each body, that are in no line."""
    out = ""
    for body in bodies:
        on = f"<body>{body}</body>" if older else f"<socket_parent_frame>/bodyset/{body}</socket_parent_frame>"
        for i, place in enumerate(PLACES):
            out += f'<Marker name="{body}.{i}">{on}<location>{place}</location></Marker>\n'
    return f"<MarkerSet><objects>{out}</objects></MarkerSet>"


def document(inner: str, version: int = 40000) -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<OpenSimDocument Version="{version}">\n{inner}\n</OpenSimDocument>\n'
    )


def body(name: str, inner: str = "") -> str:
    return f'<Body name="{name}"><mass>2</mass><mass_center>0 -0.1 0</mass_center>{inner or INERTIA}</Body>\n'


def plain_joints() -> str:
    """A row of bodies, joined by each of the plain joints."""
    before, bodies, joints = "/ground", "", ""
    for i, (kind, names) in enumerate(PLAIN.items()):
        name = f"body{i}"
        bodies += body(name)
        joints += joint(kind, f"j{i}", before, f"/bodyset/{name}", [coordinate(each) for each in names])
        before = f"/bodyset/{name}"
    names = [f"body{i}" for i in range(len(PLAIN))]
    return document(
        f'<Model name="row"><BodySet><objects>{bodies}</objects></BodySet><JointSet><objects>{joints}</objects>'
        f"</JointSet>{markers(names)}</Model>"
    )  # fmt: skip


def six() -> list[str]:
    return [coordinate(name, default=0.9 if name == "py" else 0.0) for name, _, _ in PELVIS]


def leg(force: str = "") -> str:
    """A pelvis, a shank whose joint slides as it bends, a patella that is coupled to it, and a foot that is locked."""
    bodies = "".join(map(body, LEG))
    joints = (
        joint("CustomJoint", "ground_pelvis", "/ground", "/bodyset/pelvis",
              six(),
              transform(PELVIS), ("0 0 0", "0 0 0"), ("0 0 0", "0 0 0"))
        + joint("CustomJoint", "kneejoint", "/bodyset/pelvis", "/bodyset/shank",
                [coordinate("knee", limits="-2 0.2", clamped=True)], transform(KNEE))
        + joint("CustomJoint", "pat", "/bodyset/shank", "/bodyset/patella", [coordinate("beta")], transform(PATELLA))
        + joint("CustomJoint", "anklejoint", "/bodyset/shank", "/bodyset/foot",
                [coordinate("ankle"), coordinate("subtalar", default=0.3, locked=True)], transform(FOOT))
    )  # fmt: skip
    constraints = (
        f"<ConstraintSet><objects>{COUPLER.format(on='<isEnforced>true</isEnforced>')}</objects></ConstraintSet>"
    )
    return document(
        f'<Model name="leg"><BodySet><objects>{bodies}</objects></BodySet><JointSet><objects>{joints}</objects>'
        f"</JointSet>{constraints}{force}{markers(LEG)}</Model>"
    )  # fmt: skip


def older_leg() -> str:
    """The same as in versions before 4, its pelvis too in the middle of two frames, and its foot turned round."""
    inner = [
        older_joint("CustomJoint", "ground_pelvis", "ground", six(), transform(PELVIS, older=True)),
        older_joint("CustomJoint", "kneejoint", "pelvis", [coordinate("knee", limits="-2 0.2", clamped=True)],
                    transform(KNEE, older=True)),
        older_joint("CustomJoint", "pat", "shank", [coordinate("beta")], transform(PATELLA, older=True)),
        older_joint("CustomJoint", "anklejoint", "shank",
                    [coordinate("ankle"), coordinate("subtalar", default=0.3, locked=True)],
                    transform(FOOT, older=True),
                    "<reverse>true</reverse>"),
    ]  # fmt: skip
    ground = '<Body name="ground"><mass>0</mass><mass_center>0 0 0</mass_center><Joint/></Body>'
    bodies = ground + "".join(body(name, each) for name, each in zip(LEG, inner, strict=True))
    constraints = (
        f"<ConstraintSet><objects>{COUPLER.format(on='<isDisabled>false</isDisabled>')}</objects></ConstraintSet>"
    )
    return document(
        f'<Model name="leg"><BodySet><objects>{bodies}</objects></BodySet>{constraints}'
        f"{markers(LEG, older=True)}</Model>",
        30000,
    )
