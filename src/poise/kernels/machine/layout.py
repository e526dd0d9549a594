"""How a problem lies in memory, said once: the packer writes by it, the kernels read by it.

A problem is one array of words of eight bytes, each a whole number or a real one.  It begins with a header: for each
section of `PROBLEM`, and then of its workspace (`poise.kernels.machine.work`), two words, where it starts and how many
entries it has.  Sections of a problem are records or plain numbers, within the problem itself.
"""

from collections.abc import Mapping
from typing import Final

from poise.kernels.machine.record import Record

WHOLE: Final = "whole"
REAL: Final = "real"
"""Sections of plain numbers."""

UNIT: Final = Record(
    "Unit",
    "parent kind q_index whole_frame common_normal function",
    "placement[12] multiplier offset pitch slide",
)
"""An axis of the tree, see `poise.model.tree`.  The placement in the parent's frame is a rotation (9, row by row) and a
place (3) [m]; with `common_normal` it is a [m], cos alpha, sin alpha, d [m].  The unit's position is
`multiplier * q + offset`; `pitch` is metres a radian, 1 for a slide, and `slide` what it makes of the offset [m].  That
of a BY_FUNCTION unit is a function of q, whose PIECEs begin at `function`; its axis is kept times slope / `multiplier`,
so that an axis times its multiplier is in all units what a column is made of."""

PIECE: Final = Record("Piece", "count more", "start origin c[5]")
"""A piece of a function: c0 + c1 t + ... + c4 t^4, t = x - `origin`, from x = `start` on.  A function is `count`
pieces, the first of which serves all x before the second; `more`: whether what it gives is the x of another one, whose
pieces come next."""

EFFECTOR: Final = Record(
    "Effector",
    "rows goal position rotation tip base first_block last_block columns first_column last_column first_slot "
    "linear angular weighing first_number last_number first_frame last_frame residual_rows sloped lanes",
    "tool[12] base_tool[12]",
)
"""What a task is to the kernels: a frame, the centre of mass or joints that are led somewhere.

- `rows`: the place among the routines of the one that writes its residuals and their Jacobian; -1: a pose, whose rows
  the solver has at hand.  `goal`: what its goal numbers are, see below.
- `position`, `rotation`: the blocks that hold what the place of its frame, or its rotation, lacks; -1: none.
- Its frame hangs at `tool`, rotation (9, row by row) and place (3) [m], on the unit `tip`.  `base` is 0 for the world,
  else 2 more than the unit (-1: the world) on which the base hangs at `base_tool`.
- Its Jacobian has `columns` columns, which belong to the velocities in `slots` from `first_slot` on, and are the sums
  of the COLUMNs from `first_column` to `last_column`.  Those of the frame's linear and angular motion go to the rows
  `linear` and `angular` of the workspace's `jacobian`; -1: they are no rows of the task, and go to `scratch`.
- `weighing`: 0 without weights, 1 with, 2 with unequal ones along the target's own axes.
- `first_number`, `last_number`: where among the problem's `numbers` its own begin and end.
- Of a task with a residual of the user's: `first_frame`, `last_frame` among the TASK_FRAMEs are the frames that it
  reads, `residual_rows` are its rows, `sloped` whether there are derivatives of the user's, `lanes` whether his
  functions take rows of a workspace, of one number or of eight."""

TASK_FRAME: Final = Record("TaskFrame", "unit first_column last_column", "tool[12]")
"""A frame that a user's residual reads: it hangs at `tool` on `unit` (-1: the world), and its motion adds the COLUMNs
from `first_column` to `last_column` to those of the effector."""

PLACE, TURN, DIRECTION, WAY = 1, 2, 4, 8
"""Bits of an effector's `goal`: the first three goal numbers are a place [m]; the last four are a quaternion; the first
three are a direction, of any length; all of them are the way of an update.  Without TURN the last four are plain
numbers."""

BLOCK: Final = Record("Block", "start metres soft", "weight[3] inverse_weight[3] inverse_square_tolerance enough gain")
"""Three residual rows; their Jacobian begins at row `start` of the workspace's `jacobian`, column by column.  `metres`
is 1 where they are metres, `soft` where they are lessened, but not judged: their tolerance is then infinite, and
`enough` the inverse square of the one below which nothing is gained.  `gain` is the share of them that a step seeks."""

COLUMN: Final = Record("Column", "axis place kind column", "scale pitch")
"""What one axis adds to a Jacobian: rows of its axis and its origin among the frames, the unit's kind, the column of
the effector, as -1 - column where an earlier COLUMN wrote it; the factor, and metres a radian."""

COORDINATE: Final = Record("Coordinate", "q v turns centred", "lower upper sample_lower sample_upper")
"""A number of q that the tasks move: its place in q and among the active velocities, whether whole turns change
nothing, whether its random starts are drawn around the caller's; limits and the range of random starts [rad or m]."""

BALL: Final = Record("Ball", "q v limited", "frame[9] rest[4] a[2] b[2] cosine sine half")
"""A unit quaternion: its first place in q, its first active velocity (-1 where no task moves it), whether swing or
twist are limited.  `frame`, row by row, has the directions of swing and the axis as columns, `rest` is the rotation
that counts as none, w x y z; `a`, `b` are the largest swings against and along either direction [rad], `cosine` and
`sine` those of half the middle of the twist, `half` is half the width of its interval [rad]."""

TILE: Final = Record("Tile", "row column first_block second_block first_pair last_pair")
"""A 3 x 3 tile of J J^T: its place, where the two blocks of J start, and the PAIRs of columns that meet in it."""

PAIR: Final = Record("Pair", "first second v")
"""Two columns, within their blocks, that belong to one active velocity."""

IDLE: Final = Record("Idle", "q", "lower upper")
"""A number of q that no task moves, and its limits."""

BODY: Final = Record("Body", "", "share centre[3] carried")
"""The share of all mass that hangs on a unit itself, its centre in the unit's frame [m], the share that it carries.
The last is of what stands still in the world."""

ARM: Final = Record(
    "Arm",
    "family position reverse swept slides joints[6]",
    "axes[18] first[3] second[3] third[3] fourth[3] centre[3] normal[3] rates[6] home[9] tool[3] near "
    "swept_axis[3] swept_point[3] swept_rate",
)
"""Six joints whose pose has a closed form, and perhaps one more, before or behind them, which is swept.

Everything is along the axes of the base and as it lies where q is 0, in the order in which the closed form takes the
joints: `reverse` says that it is from the tip to the base.

- `family` and, of a spherical wrist, `position`: which closed form, see `poise.kernels.closed_form.families`.
- `joints`: the COORDINATE of each joint.  `swept`: 0 without one, else 1 more than its COORDINATE, negative if it comes
  first in the chain; `slides`: whether it is a slide.
- `axes`: unit vectors.  `first` to `fourth`: points of the first axes.  `centre`: where the last axes meet.
  `normal`: a unit vector across the last axis, or of parallel axes across those.
- `rates`: what an axis turns by [rad] for each number of q.
- `home`, `tool`: rotation of the tip's unit, row by row, and place of the tool [m].
- `near`: the sum of squares of errors [m^2, rad^2] up to which a candidate is worth a Newton step."""

POINT, SEGMENT, BOX, HALF_SPACE, HULL, CYLINDER = range(6)
HEIGHTS, CLOUD = 14, 15
"""Cores of shapes; what stands in a world alone has the highest numbers, so that it is the second of any pair."""

SHAPE: Final = Record("Shape", "core unit first_pack last_pack", "pose[12] half[3] radius bound girth")
"""All points within `radius` [m] of a core, which lies at `pose`, rotation (9, row by row) and place (3) [m], in the
frame of `unit` (-1: the world).

- POINT: the place.  SEGMENT: along z from -`half[2]` to `half[2]` [m].  BOX: half its edges are `half` [m].
- HALF_SPACE: all below z = 0.  HULL: the convex hull of the vertices in the packs from `first_pack` to `last_pack` of
  `vertices` [m], seen from the pose; its spine lies along z as a segment does.
- CYLINDER: about z; `half` are its radius, twice, and half its length [m].
- HEIGHTS, CLOUD: a height map or a cloud of points; `first_pack` is the address of its tree and `last_pack` says how
  many numbers that has, which a scene keeps alive.  See `heights` and `cloud` in `poise.kernels.collision`.
- `bound`: the radius [m] of a sphere around the place that holds the shape, infinite for a half-space.
- `girth`: how far any point of the shape is from the segment, the spine, or else from the place at most [m]."""
PROXIMITY: Final = 10
"""Rows of the proximity of two shapes: their signed distance [m], the points of the first and of the second that are
nearest to the other, or deepest in it (3 each) [m], and the unit vector n along which the second leaves the first:
d distance / dt = n . (v_2 - v_1), of the velocities of the two points."""

SCENE: Final = Record("Scene", "movers bounded count groups")
"""Shapes that must not meet: the first `movers` move, those up to `bounded` stand still, the others, up to `count`, are
half-spaces and stand still too.  They are in `groups`, which `ignored` and `eases` tell of.  Behind them is a point,
put wherever one is measured from."""

CHAIN: Final = Record("Chain", "first_column last_column first_lever group")
"""What moves a shape: the COLUMNs from `first_column` to `last_column`, from the root on, each with the number of its
velocity in the model as `column`, and from `first_lever` on how far each can take a point of the shape [m per rad or
m].  `group`: the shapes that it is one of; all shapes have one."""
NEAR: Final = 2 + PROXIMITY
"""Rows of a pair that is near: the numbers of two shapes, then their proximity."""
MOST_NEAR: Final = 32
"""Pairs in the list of those that are near, at most: of more the nearest."""
MAX_COLLISION_ROWS: Final = 2 * MOST_NEAR
"""Inequalities of pairs, at most: one of each, then of the corners of those that lie flat."""

COLLISION: Final = Record("Collision", "continuous", "distance reserve share retreat lookahead")
"""How a tracker keeps shapes apart: by `distance` [m], aiming at `reserve` more.  In an update a pair comes nearer by
no more than `share` of what is left, and one that is too near is moved apart by `retreat` [m] at most.  Pairs are
sought as far ahead as speeds lead, but of any point no farther than `lookahead` [m].  A step is looked at where it
ends, and if `continuous` on its way there."""
RATES: Final = Record("Rates", "", "speed change jerk lower upper")
"""Limits of a velocity over a whole step of a Tracker: `speed`, the longest way [rad or m a step], `change`, the
largest change of it from one step to the next, and `jerk`, the largest change of that; see
`poise.kernels.requirements.braking`.  `lower` and `upper` are the limits of its coordinate [rad or m], also where a
limit of the following error leaves less of them to the COORDINATE."""
RANGE: Final = Record("Range", "effector first last", "reserve back")
"""A range that a Tracker's step does not leave: that of a task, whose sides are those from `first` to `last`; a step
aims to stay `reserve` [m or rad] inside, and from outside it comes back by `back` in an update, at least."""
LOOP: Final = Record("Loop", "effector first last held turn")
"""A loop that a step leaves closed: that of a task, whose rows are those from `first` to `last`.  They are the rows of
place and turn whose bit of `held` is set, the turn being one of the following; see `poise.kernels.rows.joints`."""
TURNS_FREELY, TURNS_NOT, KEEPS_AXIS, IS_SQUARE, IS_SQUARE_TO = range(5)
"""How the frame of a loop may turn against its base: in any way, as of a ball; not at all; about z; so that its x is
square to the base's y; so that its y is square to the base's x."""
OPPOSITE: Final = 1e-12
"""1 + the cosine between two axes z of a loop, below which they count as opposite."""
DELEGATED: Final = Record("Delegated", "effector", "scale")
"""A task that another method proposes steps for: its effector, and what that method's weights are of those here."""
TWIST: Final = Record("Twist", "first count", "most")
"""`count` velocities from `first` on, whose Euclidean length is at most `most` in one update [rad or m]."""
TOOL: Final = Record("Tool", "tip first_column last_column", "tool[12] linear angular")
"""A frame that goes by at most `linear` [m] and turns by at most `angular` [rad] in one update: it hangs at `tool` on
the tool unit `tip`, and the tool columns from `first_column` to `last_column` move it, each with an active velocity as
its `column`."""

RANK: Final = Record("Rank", "level required loop sided")
"""Of a block, for a gradient: the place of its task among levels, and whether that is required, a loop, or a range with
sides, which asks for nothing else where it is fulfilled."""
GOAL_STEP: Final = Record("GoalStep", "at turn", "scale")
"""A change of a target: of goal number `at` by `scale` a unit, or, where `turn` is not negative, of the quaternion that
begins there, about that axis."""

COMMON: Final = Record(
    "Common",
    "clamp at_target null dependent timed geared unlimited retreats",
    "max_step max_error max_turn rest_gain centre_gain limit_gain limit_longest manipulability_gain clearance_gain "
    "potential_gain",
)
"""What the settings of all methods have in common.

- `clamp`: how errors are clamped, see `poise.kernels.methods.clamp`, to `max_error` [m] and `max_turn` [rad].
  `at_target`: whether columns are taken at the target instead of the effector.
- `null`: whether there is a null-space term; the gains of criteria that are not there are 0.  `limit_longest` is what
  the distance from limits asks of a joint at most [rad or m].
- `timed`: whether a start beyond its limits comes back at its speed, instead of at once.
- `geared`: whether blocks have gains other than 1, and they count.  `unlimited`: whether the method may go beyond the
  limits of joints.  `retreats`: whether its own steps take apart what is too near.
- `dependent`: singular values that are zero in every pose, the rows being more than the directions of motion.
- `max_step`: the largest entry of a step [rad or m]; infinite: none."""

PROBLEM: Final[Mapping[str, Record | str]] = {
    "units": UNIT,
    "pieces": PIECE,
    "effectors": EFFECTOR,
    "blocks": BLOCK,
    "columns": COLUMN,
    "slots": WHOLE,
    "coordinates": COORDINATE,
    "balls": BALL,
    "tiles": TILE,
    "pairs": PAIR,
    "strides": REAL,
    "idle": IDLE,
    "idle_balls": BALL,
    "bodies": BODY,
    "numbers": REAL,
    "task_frames": TASK_FRAME,
    "posture_weights": REAL,
    "posture_judged": REAL,
    "goals_without_ranges": WHOLE,
    "goals_required": WHOLE,
    "goals_alone": WHOLE,
    "goals_all_required": WHOLE,
    "farthest": REAL,
    "arms": ARM,
    "shapes": SHAPE,
    "vertices": REAL,
    "scene": SCENE,
    "chains": CHAIN,
    "levers": REAL,
    "ignored": WHOLE,
    "eases": REAL,
    # What a method adds.
    "common": COMMON,
    "settings": REAL,
    "rule": REAL,
    "speeds": REAL,
    "rates": RATES,
    "twists": TWIST,
    "tools": TOOL,
    "tool_units": UNIT,
    "tool_pieces": PIECE,
    "tool_columns": COLUMN,
    "tool_bounds": REAL,
    "inequalities": REAL,
    "posture": REAL,
    "posture_mask": REAL,
    "weight_ratios": REAL,
    "bounds": REAL,
    "plan": WHOLE,
    "plan_reals": REAL,
    "criteria": WHOLE,
    "criteria_reals": REAL,
    "velocities": WHOLE,
    "collision": COLLISION,
    "ranges": RANGE,
    "loops": LOOP,
    "loop_plan": WHOLE,
    "braking_group": WHOLE,
    "delegated": DELEGATED,
    # Of a gradient.
    "ranks": RANK,
    "goal_steps": GOAL_STEP,
    "movable": REAL,
    # Of a following error.
    "following": REAL,
    "following_words": WHOLE,
}
"""`strides`: steps of the sequence of random starts, one a coordinate and three a ball.  `numbers`: the tasks' own.
`posture_weights` (n,): of a PostureTask.  `posture_judged` (nq + 1,): 1 for each number of q that it counts, of a
ball for each of its velocities, then its tolerance.  `goals_without_ranges`, `goals_required`, `goals_alone`,
`goals_all_required`: where the goal numbers of another search are among all.  `farthest` (nq,): the largest number
that a start may hold.  `arms`: one where the task has a closed form.  `shapes`, `vertices`: of links and of what stands
in their way; the vertices lie in packs, x, y and z of eight.  `scene`, `chains` (one a shape), `levers`: what of them
may meet, and how they move; `ignored` (groups x groups): 1 where two groups need no look; `eases` (groups x groups, or
none): by how much two groups may come nearer than others [m], for which their distances count as so much longer.

`settings` and `rule`: the settings of the method at hand and of its damping rule, each as its own record has them.
`speeds` (n,): the largest change of each active velocity in one update, infinite where none is stated.  `rates`: one
for each active velocity where a step may change the velocity by so much alone, else none; `speeds` are then those of
the whole step.  `twists`: of free bases.  `tools`: frames whose speeds are bounded, with units, pieces and columns of
their own.  `inequalities` (nq + 1 each): a row of A and its entry of b, of limits A q <= b, of what stands still
too.  `posture` (nq,): where a null-space term pulls to.  `posture_mask` (n,): 1 for each active velocity that
the posture of a Tracker pulls, else 0; empty without one.  `weight_ratios` (n,): the least of that posture's weights
over that of each active velocity; empty where all are alike.  `bounds` (2 a coordinate): lower and upper limit, whether
or not they hold.  `plan`, `plan_reals`: what the method at hand has prepared.  `criteria`, `criteria_reals`: what
obstacles push, and the obstacles.  `velocities` (n + 1,): the model's number of each active velocity, and how many the
model has; for a user's criterion and pairs.  `collision`: one where shapes are kept apart.  `ranges`: one a range that
steps do not leave.  `loops`: one a loop that steps leave closed; `loop_plan`: 0 and the number of their rows m, with a
metric the end of its n rows, then the numbers of all rows.  `braking_group` (n,): 0 for each active velocity that may
brake by itself, else the number of those that brake together, as those of a loop do; empty where a step has no more to
keep than bounds.  `tool_bounds`: 2 n a tool, how long its linear, then its angular columns are at most, infinite where
nothing says; then for each tool 1 where each column is of one joint that carries those of the next.
`delegated`: the tasks that another method proposes steps for, in that method's order.  `ranks`: one a block.
`goal_steps`: those that a gradient is asked for.  `movable` (n,): 1 for what tasks move, else 0.

`following`: how far a frame may be ahead of where it was measured, as the square of a distance [m^2] and as
|R - S|^2 = 8 sin^2(angle / 2) of its rotations; then how far each coordinate of the Tracker's problem may be [rad or
m].  `following_words`, for each of those: the word of that problem at which its limits are, 0 where it is of a joint of
several."""

CALL: Final = Record(
    "Call",
    "problem narrow wide routines wide_routines seed max_iterations max_restarts usual_restarts nearest chunk phase "
    "updates anti_chatter steps characters goals postures path trace trace_rows samples found problems starts "
    "answers index given check_feasibility scene scene_work proposer scout "
    "without_ranges required all_required rest soft approach stage code "
    "by_steps alone near falls_back keeps_by_steps closes_loops solves_alone opens_loops usual_iterations sampled "
    "recourse needs "
    "following following_work past words rows scene_rows",
)
"""The arguments of an entry point, which is given the address of this record.

- `problem`; `narrow`, `wide`: its workspaces; `routines`, `wide_routines`: the tables of routines of each width.  All
  are addresses, as are those below of arrays, 0 where there is none.
- `seed`, `max_iterations`, `max_restarts`, `usual_restarts`, `nearest`, `chunk` and `phase` (BEGIN, GO_ON, END): of a
  search.  `check_feasibility`: 1 where solutions must be feasible.  `index`: of stored starts; `given`: 1 where the
  caller's own start counts, or all that is required is fulfilled.
- `updates` of a step; `anti_chatter`: 1 with a trust radius; `steps`, `characters`: of a rollout.
- `goals`, `postures`, `path`, `trace` (`trace_rows`), `samples`, `found`, `problems`, `starts`, `answers`: arrays, and
  how many; each entry point says of what.
- `scene`, `scene_work`: shapes that must not meet and their workspace.  `proposer`: this record of the method that
  leads delegated tasks.  `scout`: the scout's workspace.
- `without_ranges`, `required`, `all_required`: this record of the search for some of the tasks, or for all as if they
  were required, 0 without one; `rest`: that of what brings soft tasks and a posture to rest.  `soft`:
  1 where some tasks are soft; `approach`: 1 where answers are brought to a posture.  `stage`: the one that a search is
  in; `code`: what a stage, or one of the steps of a step, came to.
- Of what a search does where it fails, see `solver.fallback`: `falls_back`, 1 where it does anything.  `by_steps` and
  `alone`: this record of the search by steps that keep all, and of that for what is required alone; 0 until Python has
  made them.  `near`: room for this record and a problem, for a search near to a posture, 0 without one.
  `keeps_by_steps`, `solves_alone`: 1 where these are tried; `closes_loops`: 1 where Python closes loops before steps;
  `opens_loops`: 1 where what is required alone leaves loops open.  `usual_iterations`: `max_iterations` as they were
  stated.  `sampled`: the seed that random starts were drawn with.  `recourse`: the stage that it is in; `needs`: what
  Python is to do where the code is NEEDS, one of STEPS_SEARCH, ALONE_SEARCH, CLOSED_STARTS, CLOSED_ANSWER.
- `following`, `following_work`: the problem of the following error and its workspace, whose `start` is the measured q,
  or begins with NaN.  `past`: room for a problem, and behind it for all that a step remembers; `words`, `rows`,
  `scene_rows`: how long problem, workspace and the workspace of the shapes are.

Kernels write `phase`, `stage`, `recourse`, `needs`, `code`, what they tell another search, and, for the time of a step
that is taken again, `problem`."""

(
    SEARCH,
    GATHER,
    CLOSED_FORM,
    METHOD,
    RULE,
    GRADIENT,
    HESSIAN,
    COLLISION_ROWS,
    STAYS_CLEAR,
    STOPPABLE,
    CLEARANCE,
    MEASURE,
    SOFT,
    RANGE_ROWS,
    PROJECT_STEP,
    PROPOSE,
    SCOUT,
    FOLLOW,
    LOOK_BACK,
    LEAP,
    OWN,
    STAGES,
    FALLBACKS,
    REST,
    APPROACH,
    TAKE_STEP,
    FIRST_ROWS,
) = range(27)
"""Places in a table of routines: SEARCH, from eight starts; GATHER, towards a posture; CLOSED_FORM; METHOD, one update,
and RULE, its damping; GRADIENT and HESSIAN of a user's criterion; COLLISION_ROWS, the inequalities of an update,
STAYS_CLEAR, the check of where it led, STOPPABLE, that of the way to rest; CLEARANCE, the least distance at a
configuration; MEASURE, the proximity of two shapes; SOFT, the search for the least of soft tasks; RANGE_ROWS, the
inequalities of ranges; PROJECT_STEP; PROPOSE, the step of the method that leads delegated tasks; SCOUT and FOLLOW;
LOOK_BACK and LEAP, of an arm that creeps; OWN, REST and APPROACH, stages of a search; STAGES, all of them, and
FALLBACKS, all that it does, also where it fails; TAKE_STEP, a step, which may be taken again; and from FIRST_ROWS on
the rows of each kind of task."""
RESIDUAL, SLOPES, SIDES, ENTRIES = 1, 2, 3, 4
"""Behind the routine that writes a task's rows: a user's residual and its derivatives, that which writes the sides of
its range; places that a kind takes."""

SOLVED, UNSOLVED, RUNNING, NOT_FINITE, GIVEN_UP, BLOCKED, STRAYED, OPEN, NEEDS = range(9)
BAD_GOAL, BAD_START = -1, -2
"""What an entry point returns; GIVEN_UP is a problem of a batch that lanes leave and that is searched no further,
BLOCKED one of which all solutions that were found have shapes that are too near, STRAYED one of a batch that is solved,
but far from a start that was near, OPEN a step from loops that are farther open than one closes, NEEDS a search for
which Python is to do something."""
STEPS_SEARCH, ALONE_SEARCH, CLOSED_STARTS, CLOSED_ANSWER = range(1, 5)
"""What that is: to make the search by steps and its random starts, or that for what is required alone; to close loops
at the starts of steps, or at the answer to what is required alone."""
BEGIN, GO_ON, END = range(3)
"""Phases of a search: from the caller's start, further, or no further: the best so far."""
CODE, ITERATIONS, RESTARTS, START, DISTANCE, COST, STATIONARY, ANSWER = range(8)
"""Rows of `out`: START is the number of the start that led to q, DISTANCE how far q is from `start` as it is within the
limits; from ANSWER on stand q (nq), then the error of each block in its own unit, and one number more."""

CLOSED: Final = 1e-7
"""By how much a loop that counts as closed may be open [m or rad]."""
EXACT: Final = 1e-10
"""Newton's steps that close one go on until this much is left [m or rad]."""
AT_LIMIT: Final = 1e-6
"""What is this near to its limit stands at it [rad or m]; of speeds and accelerations, by this share of the limit.  It
is more than rounding and the reserves of steps leave of the way there, and less than any joint is placed to."""
BY_CLOSED_FORM: Final = -1
"""START of an answer that no start led to."""
STATE: Final = 23
"""Rows of the solver's state of each lane."""
BRANCHES: Final = 12
"""Rows of what is known of each lane that holds a branch of a closed form."""
FALLBACK_STATE: Final = 7
"""Rows of what a search that has failed knows, see `poise.kernels.solver.fallback`."""
CHOICE: Final = 7
"""Rows of what the search for a posture knows of each lane."""
PROGRESS: Final = 9
"""Rows of what the search for the least of soft tasks knows of all lanes, see `poise.kernels.solver.soft`."""
WIDTH: Final = 8
"""Problems side by side in a wide workspace."""
GOAL_NUMBERS: Final = 7
"""Numbers of an effector's goal: place, then quaternion w x y z."""
FEATURES: Final = 9
"""Features of an effector in an index of starts."""
LARGEST: Final = 2.0**50
"""The largest length or angle [m or rad]: there a double is exact to 1/8, and beyond it holds no angle."""
FAR: Final = 1e100
"""The largest of a goal's last four numbers, which stands for an infinite one where they are no quaternion."""
SHORTEST: Final = 1e-12
"""A direction or a quaternion that is no longer is none."""
GOAL: Final = 30
"""Rows of an effector's target: rotation 9, place 3, two 3 x 3 weight matrices."""
FRAME: Final = 12
"""Rows of a unit's frame: its origin, then its z, x and y axes, each along the world's axes."""
REVOLUTE, PRISMATIC, HELICAL, BALL_AXES, BALL_TURN, STILL, BY_FUNCTION = range(7)
"""Kinds of units.  A ball is two: one that marks the three fixed axes about which it turns, one that turns.  So is a
joint that follows another by a function: one that moves, of the kind BY_FUNCTION + REVOLUTE, PRISMATIC or HELICAL, for
whose z axis its rows hold z times the slope, and for its x axis z times the curvature; and one that is STILL on it,
which carries what hangs there."""
