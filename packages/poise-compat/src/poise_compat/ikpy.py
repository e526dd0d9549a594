"""ikpy's `Chain` and its links: one number a link, fixed ones too.

    from poise_compat.ikpy import Chain, OriginLink, URDFLink  # was: from ikpy.chain ..., from ikpy.link ...

The original minimises from one start and does not say how it ended.  Here are many, and `chain.solution` tells.
"""

import os
from collections.abc import Sequence
from typing import Any, Final, Self, final

import numpy as np

from poise import SO3, AxisTask, OrientationTask, PositionTask, Solution, Solver, Task
from poise.extending import Array, ArrayLike, finite, one_of
from poise_compat.ikpy_links import DHLink, OriginLink, URDFLink, model_of
from poise_compat.ikpy_urdf import urdf_links

__all__ = ["Chain", "DHLink", "OriginLink", "URDFLink"]

_STEERS: Final = {"regularization_parameter", "max_iter", "optimizer", "optimizer_budget", "tol", "optimizer_kwargs"}
"""Settings of the original's optimisers, which decide nothing here."""
_AXES: Final[dict[str | None, int]] = {"X": 0, "Y": 1, "Z": 2}


@final
class Chain:
    """Links in a row, whose last frame is led; inactive ones stay where a call says that they are.

    Raises ModelError for links that make no chain, ValueError for a mask of another length.
    """

    def __init__(
        self, links: Sequence[Any], active_links_mask: Sequence[bool] | None = None, name: str = "chain", **kwargs: Any
    ) -> None:
        self.name, self.links = name, list(links)
        active = [True] * len(self.links) if active_links_mask is None else list(active_links_mask)
        if len(active) != len(self.links):
            raise ValueError(f"active_links_mask has {len(active)} entries; the chain has {len(self.links)} links")
        self.active_links_mask = np.array(active)
        self.model = model_of(self.links, active, name)
        self.solution: Solution | None = None  # of the last call
        self._moving = [i for i, link in enumerate(self.links) if link.joint_type != "fixed"]
        self._fixed = [i for i in self._moving if not active[i]]
        self._active = [i for i in self._moving if active[i]]
        self._solvers: dict[Any, Solver] = {}

    @classmethod
    def from_urdf_file(
        cls, urdf_file: str | os.PathLike[str], base_elements: Sequence[str] | None = None,
        last_link_vector: ArrayLike | None = None, base_element_type: str = "link",
        active_links_mask: Sequence[bool] | None = None, name: str = "chain", **kwargs: Any,
    ) -> Self:  # fmt: skip
        """The joints that `base_elements` name, then first children down to a leaf; `last_link_vector` (3,) [m]."""
        found = urdf_links(urdf_file, ["base_link"] if base_elements is None else base_elements, base_element_type)
        if last_link_vector is not None:
            found.append(URDFLink("last_joint", last_link_vector, np.zeros(3), joint_type="fixed"))
        return cls([OriginLink(), *found], active_links_mask, name)

    def __len__(self) -> int:
        return len(self.links)

    def forward_kinematics(self, joints: ArrayLike, full_kinematics: bool = False, backend: str = "numpy") -> Any:
        """(4, 4) pose of the last frame at `joints`, one a link [rad or m]; with `full_kinematics` a list of all."""
        q = finite("joints", joints, len(self))[self._moving]
        poses = [self.model.pose(str(i), q).matrix() for i in range(len(self))]
        return poses if full_kinematics else poses[-1]

    def inverse_kinematics(
        self, target_position: ArrayLike | None = None, target_orientation: ArrayLike | None = None,
        orientation_mode: str | None = None, backend: str = "numpy", **kwargs: Any,
    ) -> Array:  # fmt: skip
        """Positions, one a link [rad or m], for a point (3,), and an axis (3,) or, with "all", a rotation (3, 3)."""
        target, turned = np.eye(4), () if target_orientation is None else target_orientation
        if orientation_mode in _AXES:
            target[:3, _AXES[orientation_mode]] = finite("target_orientation", turned, 3)
        elif orientation_mode == "all":
            target[:3, :3] = finite("target_orientation", turned, 3, 3)
        if target_position is not None:
            target[:3, 3] = finite("target_position", target_position, 3)
        return self.inverse_kinematics_frame(
            target, orientation_mode=orientation_mode, no_position=target_position is None, **kwargs
        )

    def inverse_kinematics_frame(
        self, target: ArrayLike, initial_position: ArrayLike | None = None, backend: str = "numpy",
        orientation_mode: str | None = None, no_position: bool = False, **kwargs: Any,
    ) -> Array:  # fmt: skip
        """The same for a frame (4, 4), of which `orientation_mode` and `no_position` say what counts."""
        if unknown := sorted(kwargs.keys() - _STEERS):
            raise TypeError(f"inverse_kinematics takes no {', '.join(unknown)}")
        one_of("orientation_mode", orientation_mode or "all", ("X", "Y", "Z", "all"))
        pose, zeros = finite("target", target, 4, 4), np.zeros(len(self))
        start = zeros + finite("initial_position", zeros if initial_position is None else initial_position, len(self))
        goals: list[Any] = [] if no_position else [pose[:3, 3]]
        if orientation_mode in _AXES:
            goals.append(pose[:3, _AXES[orientation_mode]])
        elif orientation_mode == "all":
            goals.append(SO3.from_matrix(pose[:3, :3], orthonormalise=True))
        self.solution = self._solver(no_position, orientation_mode, start[self._fixed])(goals, start[self._active])
        start[self._active] = self.solution.q
        return start

    def _solver(self, no_position: bool, mode: str | None, fixed: Array) -> Solver:
        key = no_position, mode, tuple(fixed)
        if key not in self._solvers:
            tip = str(len(self) - 1)
            tasks: list[Task] = [] if no_position else [PositionTask(tip)]
            if mode is not None:
                tasks.append(OrientationTask(tip) if mode == "all" else AxisTask(tip, axis=np.eye(3)[_AXES[mode]]))
            if not tasks:
                raise ValueError("there is neither a target_position nor an orientation_mode; give one of them")
            still = {str(i): x for i, x in zip(self._fixed, fixed, strict=True)}
            self._solvers = {key: Solver(self.model.lock(still), tasks)}
        return self._solvers[key]
