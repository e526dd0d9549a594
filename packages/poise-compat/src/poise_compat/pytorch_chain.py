"""A serial chain of pytorch_kinematics as poise has it."""

from functools import lru_cache
from typing import Any, Final

import numpy as np

from poise import SE3, JointKind, Model, ModelBuilder
from poise.extending import Array

END: Final = "end"
"""The frame of its end."""


def numbers_of(tensor: Any) -> Array:
    """A tensor as an array."""
    return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float64)


def rows_of(chain: Any) -> tuple[Any, ...]:
    """All that is read of the frames of a chain: where each is, and what its joint does; raises ValueError."""
    rows = []
    for name in chain.get_frame_names(exclude_fixed=False):
        frame = chain.find_frame(name)
        if len(frame.children) > 1:
            raise ValueError(f"the chain branches at {name!r}: name its end, as in SerialChain(chain, end_frame_name)")
        here = np.eye(4)
        for offset in (frame.link.offset, frame.joint.offset):
            here = here if offset is None else here @ numbers_of(offset.get_matrix())[0]
        limits = None if frame.joint.limits is None else tuple(map(float, frame.joint.limits))
        axis = tuple(numbers_of(frame.joint.axis).tolist())
        rows.append((here.tobytes(), frame.joint.joint_type, frame.joint.name, axis, limits))
    return tuple(rows)


@lru_cache(64)
def model_of(rows: tuple[Any, ...]) -> Model:
    """The model of such rows, with a frame "end"."""
    builder = ModelBuilder("chain")
    builder.link("root")
    here, parent = SE3.identity(), "root"
    for i, (offset, kind, name, axis, limits) in enumerate(rows):
        here = here @ SE3.from_matrix(np.frombuffer(offset).reshape(4, 4), orthonormalise=True)
        if kind != "fixed":
            free = JointKind.PRISMATIC if kind == "prismatic" else JointKind.CONTINUOUS
            builder.joint(
                name, free if limits is None or kind == "prismatic" else JointKind.REVOLUTE, parent=parent,
                child=f"link{i}", origin=here, axis=axis, limits=limits,
            )  # fmt: skip
            here, parent = SE3.identity(), f"link{i}"
    builder.frame(END, link=parent, origin=here)
    return builder.build()
