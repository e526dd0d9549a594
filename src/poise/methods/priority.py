"""Task priority.

Idea.     Tasks stand in levels, those of priority 0 first, and a level moves only what the levels before it leave free:
          feet that stand do not slip because a hand reaches farther.
Step.     "lexicographic": dq within max(l - q, -v dt) <= dq <= min(u - q, v dt) is for each level in turn the minimum
          of |J_k dq - e_k|^2 + lambda_k^2 |dq|^2 that keeps every J_j dq of the levels before.  The others go by
          inverses: "siciliano-slotine" is dq_k = dq_(k-1) + (J_k P_(k-1))^+ (e_k - J_k dq_(k-1)), with the projector
          P_k = P_(k-1) - (J_k P_(k-1))^+ (J_k P_(k-1)); "baerlocher-boulic" is the same with damped inverses in the
          step, not in P; "chiaverini" is dq_k = dq_(k-1) + P_(k-1) J_k^+ e_k, which inverts no J_k P.
Use when  some tasks must not give way to others, as feet, a camera or a tool against a posture.
Not for   tasks that shall share what cannot be reached: give them one priority and weights.  By inverses, a joint at
          a limit is left out of all levels and a step that is too long is shortened as a whole, so that limits can
          disturb the first level for the last one's sake; with "lexicographic" they cannot.  "siciliano-slotine"
          shakes where J_k P loses rank, "chiaverini" does not, but follows a later level only roughly.
Cost      by inverses, a singular value decomposition of each level (two with "chiaverini"); "lexicographic", one
          orthogonalisation of all rows while no joint meets a limit and no row depends on others; else an orthogonal
          factorisation of each level, and one more for each joint that meets a limit.
Source.   Siciliano and Slotine 1991; Chiaverini 1997; Baerlocher and Boulic 1998 and 2004; for levels with limits
          inside, Escande, Mansard and Wieber 2014, whose problem it is and whose algorithm it is not.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from poise.kernels.methods import settings as at
from poise.methods.base import Capabilities, ClampMag, NullSpaceMethod, one_of
from poise.methods.damping import Constant, Curvature, DampingRule, MaxNorm, rule_of
from poise.spatial import Array

Form = Literal["lexicographic", "siciliano-slotine", "chiaverini", "baerlocher-boulic"]
_PROJECTED = {
    "siciliano-slotine": at.SICILIANO_SLOTINE,
    "chiaverini": at.CHIAVERINI,
    "baerlocher-boulic": at.BAERLOCHER_BOULIC,
}
_RULES: dict[str, tuple[type[DampingRule], ...]] = {
    "lexicographic": (Curvature, Constant),
    "siciliano-slotine": (),
    "chiaverini": (),
    "baerlocher-boulic": (MaxNorm, Constant),
}


@final
@dataclass(frozen=True, kw_only=True)
class TaskPriority(NullSpaceMethod):
    """Levels of tasks, of which none disturbs those before it; see the module.

    A null-space term is the last level.
    """

    name: ClassVar[str] = "priority"
    title: ClassVar[str] = "Task priority"
    references: ClassVar[tuple[str, ...]] = (
        "escande2014",
        "siciliano1991",
        "chiaverini1997",
        "baerlocher1998",
        "baerlocher2004",
    )
    capabilities: ClassVar[Capabilities] = Capabilities(priorities=True, characters=False)
    iterations: ClassVar[int] = 300
    max_step: float = math.radians(45.0)
    """Largest change of a joint in one update [rad or m]; one more bound of the box with "lexicographic", else a longer
    step is shortened as a whole."""
    max_error: float | ClampMag | None = 0.2
    form: Form = "lexicographic"
    damping: float | Constant | Curvature | MaxNorm | None = None
    """lambda, or a rule that is taken for each level by itself.  None: `Curvature(0.2)` with "lexicographic",
    `MaxNorm(0.5)` with "baerlocher-boulic"; the other two forms have none."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("form", self.form, tuple(_RULES))
        if self.damping is not None and not isinstance(rule_of(self.damping), _RULES[self.form]):
            able = " or ".join(kind.__name__ for kind in _RULES[self.form])
            raise ValueError(
                f"form={self.form!r} takes no damping {self.damping!r}; it must be "
                + (f"lambda, or a {able}" if able else "None, for its inverses are not damped")
            )

    def write(self, settings: Array) -> None:
        """Put the settings into the array."""
        self.write_clamps(settings)
        self.write_null_space(settings)
        if self.form == "lexicographic":
            settings[at.METHOD] = at.LEXICOGRAPHIC
            rule_of(Curvature(0.2) if self.damping is None else self.damping).write(settings)
            return
        settings[at.METHOD], settings[at.OPTION] = at.PROJECTED, _PROJECTED[self.form]
        if self.form == "baerlocher-boulic":
            rule_of(MaxNorm(0.5) if self.damping is None else self.damping).write(settings)
