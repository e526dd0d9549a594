"""solve_all and BranchSolver: every solution of a target."""

from typing import Any, Final, final

from poise.common.array import ArrayLike
from poise.common.checks import whole
from poise.model.model import Model, a_model
from poise.solving.answers.branches import BranchBatch, Solutions
from poise.solving.answers.intervals import Interval
from poise.solving.arguments.arguments import Tasks, several
from poise.solving.arguments.lru_cache import cached
from poise.solving.arguments.moving import JointsLike, moving
from poise.solving.requirements.limits import LimitsLike, key_of
from poise.solving.search.prepared import STRUCTURE
from poise.solving.solvers.branching import Branching, check
from poise.tasks.base import Task

_LAST: Final = "the last task of solve_all, its settings, and what was prepared for them"
_NOTHING: Final[tuple[Any, ...]] = (None,) * 5


@final
class BranchSolver:
    """A model and a task, prepared for all solutions of many targets, from any number of threads.

    It can be pickled.  See `solve_all`, also for what is raised.
    """

    __slots__ = ("_branching", "model", "seed")
    model: Model
    seed: int
    """What the random starts depend on, where there is no closed form."""

    def __init__(
        self,
        model: Model,
        tasks: Tasks,
        *,
        limits: LimitsLike = True,
        use: JointsLike | None = None,
        still: JointsLike | None = None,
        turns: bool = False,
        samples: int = 64,
        seed: int = 0,
    ) -> None:
        whole("seed", seed, 0)
        self.model, self.seed = moving(model, use, still), seed
        self._branching = Branching(self.model, tasks, limits=limits, turns=turns, samples=samples)

    def __call__(self, target: Any = None, q0: ArrayLike | None = None) -> Solutions:
        """All solutions of `target` (the task's own if it is None), the nearest to `q0` (nq,), or to home, first.

        Raises ShapeError for a wrong shape, ValueError for an entry that is not finite.
        """
        return self._branching(self.model, target, q0, self.seed)

    def batch(self, targets: Any = None, q0: ArrayLike | None = None, *, threads: int | None = None) -> BranchBatch:
        """All solutions of each of many targets, in each of `threads`, or on all cores.

        `targets` has a row a problem, as for `solve_batch`: of a pose an SE3 of n, (n, 7) or (n, 4, 4) numbers.  `q0`
        is (nq,) for all or (n, nq).  The solutions of a target depend on its row, the settings and the seed, not on the
        other rows or on `threads`.  A row that is no target, or whose q0 is no start, is not `valid` and has no
        solutions; `explain` names it, and the others are solved.  Ctrl-C is a KeyboardInterrupt.

        Raises ShapeError, and ValueError for one q0 for all that is not finite.
        """
        return self._branching.batch(self.model, targets, q0, self.seed, threads)

    def intervals(self, target: Any = None, q0: ArrayLike | None = None) -> tuple[Interval, ...]:
        """All solutions of an arm whose seventh joint is swept, by the values of that joint, lowest first.

        Between the ends of an interval there is a solution for each value, and they go over into one another; at an end
        two of these meet or a joint reaches a limit.  A curve of solutions is found if one of the `samples` has one on
        it, beyond the limits of the other six or not; at a pose with a line of solutions there may be none.  What is
        stated beside the limits of joints is not looked at.  Joints are as whole turns bring them nearest to `q0`
        (nq,), or to home.

        Raises ValueError where no joint is swept, and as a call does.
        """
        return self._branching.intervals(self.model, target, q0, self.seed)

    @property
    def closed_form(self) -> str | None:
        """What the axes of the arm have that gives its pose a closed form, or that they lie anyhow, where elimination
        gives all solutions; None if a search must do."""
        if self._branching.direct is not None:
            return self._branching.direct.words
        return None if self._branching.form is None else self._branching.form.words

    @property
    def swept(self) -> str | None:
        """The coordinate that is swept, as the closed form gives the other six."""
        form = self._branching.form
        return None if form is None or form.swept is None else self.model.coordinates[form.swept]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What it solves for."""
        return self._branching.tasks


def solve_all(
    model: Model,
    tasks: Tasks,
    target: Any = None,
    q0: ArrayLike | None = None,
    *,
    limits: LimitsLike = True,
    use: JointsLike | None = None,
    still: JointsLike | None = None,
    turns: bool = False,
    samples: int = 64,
    seed: int = 0,
) -> Solutions:
    """All solutions of a task, the nearest to `q0` (nq,), or to the model's home, first.

    Of the pose of a frame that six turning joints move all solutions are found.  It has a closed form if the last or
    the first three axes meet in a point, or if axes 2, 3 and 4 (or 3, 4 and 5) are parallel and the two beyond them
    meet, of up to eight branches; else its up to sixteen solutions come by elimination.  With a seventh joint, which
    may be a slide, at either end of such six, that joint is swept: `samples` values, evenly spread over its range, have
    their branches each, and where none has any, one that a search finds.  Up to four joints that turn about parallel
    axes, or slide, have a closed form as well, and six of which three that turn meet and others slide.  Any other arm
    or task is searched from `q0` and random starts, drawn with `seed`, eight times `samples` calls of the solver; that
    misses some now and then.

    Every solution is within the tolerances, by forward kinematics at its q, and within the limits of the joints unless
    `limits` is False; what a list of `limits` states beside them holds too, as for `solve`.  Tasks that are not
    required are missed as little as in any that was found, a posture as little as near to each.  Each joint is as whole
    turns bring it nearest to `q0`, and with `turns=True` all that whole turns within the limits make of a solution
    follow too.  Joints that do not move the task stay as in `q0`, but for what sums of joints in `limits` ask of them.
    The model keeps what it prepared for tasks of this structure.  `use` and `still` say which joints may move, as for
    `solve`; what has a closed form with the others locked where `q0` has them is found as completely, though `complete`
    does not say so.

    Raises FrameNotFound, JointNotFound, ShapeError, and ValueError for numbers that are not finite.
    Sources: Elias and Wen 2022, "IK-Geo: Unified Robot Inverse Kinematics Using Subproblem Decomposition",
    arXiv:2211.05737; Raghavan and Roth 1993, "Inverse kinematics of the general 6R manipulator and related linkages".
    """
    if use is not None or still is not None:
        model = moving(model, use, still)
    one, a, b, c, branching = a_model(model).queries.get(_LAST, _NOTHING)
    if not (one is tasks and a is limits and b is turns and c is samples):
        branching = prepared_branching(model, tasks, limits=limits, turns=turns, samples=samples)
        if isinstance(tasks, Task) and not tasks.own and isinstance(limits, bool):  # what never changes
            model.queries[_LAST] = tasks, limits, turns, samples, branching
    if target is None:
        own = [task.target for task in several(tasks)]
        target = own if len(own) > 1 else own[0]
    found: Solutions = branching(model, target, q0, seed)
    return found


def prepared_branching(model: Model, tasks: Tasks, *, limits: LimitsLike, turns: bool, samples: int) -> Branching:
    """What the model keeps for all solutions of tasks of this structure and with these settings."""
    given = several(tasks)
    check(turns, samples)
    key = (Branching, key_of(limits), turns, samples, *map(STRUCTURE, given))
    return cached(model, key, lambda: Branching(model, given, limits=limits, turns=turns, samples=samples))
