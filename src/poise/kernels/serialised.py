"""How a prepared solver or tracker lies in a file: `Solver.export` writes by it, `build/poise.c` reads by it.

A file is an array of words of eight bytes, little-endian.  It begins with an IMAGE; where that says behind which word a
part begins, it counts from the first of the file.  Two arrays are made of it: what is `fixed`, which threads share, and
what each of them has for itself, its `work`.
"""

from typing import Final

from poise.kernels.machine.record import Record

MAGIC: Final = int.from_bytes(b"poise\x1a\r\n", "little")
"""The first word of a file: a transfer that takes it for text changes it."""
SOLVER, TRACKER = range(2)
"""Kinds of files."""
FUNCTION, FIXED, WORK = range(3)
"""Kinds of links, each a kind, a place and a target: the word of `fixed` at the place becomes the address of the
function with this number; that of `work` becomes the address of a word of `fixed`, or of `work`."""
OBSTACLE: Final = Record("Obstacle", "shape", "core[7]")
"""A shape of the world that may be moved: its number, and the pose of its core in the frame by which it is placed."""

IMAGE: Final = Record(
    "Image",
    "magic length sum layout version kind "
    "nq nv tasks posture blocks frames shapes obstacles functions "
    "fixed fixed_words presets preset_words links link_count names work_words "
    "held call goal guide start out measured scene scene_work sight "
    "pose_frames pose_linear pose_angular pose_all pose_out "
    "frame_words column_words query run poses jacobians nearest place "
    "lower upper home targets reads movable",
)
"""What a file has and where.

- `length`: how many words it has; `sum`: the CRC-32 of all that comes behind it.  `layout` tells how records lie, and
  `version` is that of the poise which wrote it, 1,000,000 major + 1,000 minor + patch.
- Counts: numbers of a configuration and of a velocity, tasks that have seven numbers as target, numbers of a posture
  behind them, blocks of which errors are told, frames, shapes of the scene, obstacles, functions.
- Parts of the file: `fixed`; `presets` of `work`, which is zero elsewhere: a place, a count, and so many words, again
  and again; `links`; `names`, each ended by a zero byte: functions, the first frame of each task, coordinates of q,
  frames, shapes, obstacles.
- `held` is 1 for a solver that has more to hold than limits of joints, whose failed answers are none.
- Places in `work`: the record CALL, rows of the workspace, the measured q of a tracker, the scene (0: none), its
  workspace, another in which distances are asked for, and the room for poses and Jacobians, whose lengths are
  `frame_words` and `column_words`.
- Places in `fixed`: the problem of poses, the functions that are called, the limits and the home of q, the targets that
  tasks begin with, what each task reads of its target (`goal_kind`), and the OBSTACLEs."""
