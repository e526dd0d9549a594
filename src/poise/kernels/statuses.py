"""How calls of `libpoise` end, said once: the header in C, the types of JavaScript and the reference are made of it."""

from typing import Final

STATUSES: Final[dict[str, str]] = {
    "OK": "every task is within its tolerances, or the step was taken",
    "LOCAL_MINIMUM": "the search came to rest short of the target, which proves nothing; q is the closest found",
    "BUDGET": "the iterations, starts or time that were allowed were spent before anything converged",
    "COLLISION": "shapes would be nearer to each other than asked in every solution that was found",
    "NOT_FINITE": "every start came to a step that is no finite number, as singular poses make it; damp the method",
    "BAD_INPUT": "the target or the start holds numbers that make none, and nothing was solved",
    "LIMIT": "limits hold back all that was found",
    "LOOPS_OPEN": "loops are farther open at this q than a step closes, and q stays: begin at one that a Solver finds",
    "NO_FILE": "these are not the bytes of a file that Solver.export or Tracker.export wrote",
    "DAMAGED": "the file was cut or changed since it was written: export it anew",
    "NEWER": "the file was written by a newer poise than this library is of: update the library",
    "OLDER": "the file was written by an older poise than this library is of: export it anew",
    "NO_CPU": "this CPU lacks instructions that the library needs",
    "NO_SOLVER": "this file is of a tracker, which takes steps and solves nothing: export a Solver",
    "NO_TRACKER": "this file is of a solver, which takes no steps: export a Tracker",
    "NO_SHAPES": "nothing is kept apart here: export it with a CollisionLimit among its limits",
    "BAD_ARGUMENT": "a pointer is null, or a number is none of those that there are",
}
"""Names and sentences, in the order of their numbers; what a Status of Python's is called, and says, so do these."""
