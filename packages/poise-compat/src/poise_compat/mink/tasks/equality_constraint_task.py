"""mink's task about equalities of the model, such as loops of links."""

from collections.abc import Sequence
from typing import Any, final

import mujoco
import numpy as np

from poise.extending import Array, ArrayLike
from poise_compat.costs import costs
from poise_compat.mink.configuration import Configuration
from poise_compat.mink.constants import constraint_width
from poise_compat.mink.exceptions import InvalidConstraint, TaskDefinitionError
from poise_compat.mink.tasks.task import Task


@final
class EqualityConstraintTask(Task):
    """Keep equalities of the model, all of them or those that are named: points, poses, joints or tendons that meet."""

    def __init__(
        self, model: Any, cost: ArrayLike, equalities: Sequence[int | str] | None = None, gain: float = 1.0,
        lm_damping: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(0.0, gain, lm_damping)
        self._model = model
        self._ids = list(range(model.neq)) if equalities is None else [self._number(e) for e in equalities]
        if not self._ids or len(set(self._ids)) < len(self._ids):
            raise TaskDefinitionError(f"equalities are {self._ids}; they must be one or more, each once")
        self.set_cost(cost)

    def set_cost(self, cost: ArrayLike) -> None:
        """Of one number, or one an equality."""
        each = dict(zip(self._ids, costs(TaskDefinitionError, "cost", cost, len(self._ids)), strict=True))
        self._costs = np.array([each.get(e, 0.0) for e in range(self._model.neq)])
        some = sorted(self._ids)
        self.cost = np.repeat(self._costs[some], [constraint_width(self._model.eq_type[e]) for e in some])

    def compute_error(self, configuration: Configuration) -> Array:
        """(k,) by how much those that are switched on are open [m, rad]."""
        return np.array(configuration.data.efc_pos[self._rows(configuration)])

    def compute_jacobian(self, configuration: Configuration) -> Array:
        """(k, nv) its derivative."""
        model, data = configuration.model, configuration.data
        rows = np.zeros((data.nefc, model.nv))
        if mujoco.mj_isSparse(model):
            mujoco.mju_sparse2dense(rows, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
        else:
            rows = np.array(data.efc_J).reshape(rows.shape)
        return rows[self._rows(configuration)]

    def _rows(self, configuration: Configuration) -> Any:
        data = configuration.data
        some = (data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & np.isin(data.efc_id, self._ids)
        self.cost = self._costs[data.efc_id[some]]
        return some

    def _number(self, equality: int | str) -> int:
        model = self._model
        names = [model.equality(i).name for i in range(model.neq)]
        number = names.index(equality) if equality in names else equality
        if not isinstance(number, int | np.integer) or not 0 <= number < model.neq:
            raise InvalidConstraint(f"the model has no equality {equality!r}; it has {names}")
        if not model.eq_active0[number]:
            raise InvalidConstraint(f'equality {equality!r} is switched off at first; write active="true" in it')
        return int(number)
