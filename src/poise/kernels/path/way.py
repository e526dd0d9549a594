"""Free ways in the joints among the shapes of a scene: whether the straight one is, what trees find, shortcuts."""

from poise.kernels.kinematics.joint_rows import put
from poise.kernels.machine.jit import entry_point
from poise.kernels.machine.kinds import REALS, WHOLE
from poise.kernels.machine.views import narrow, problem_at, section
from poise.kernels.path.holding import is_clear
from poise.kernels.path.shortcuts import shorten
from poise.kernels.path.trees import NODES, grow


@entry_point(WHOLE, WHOLE, WHOLE, REALS, REALS, REALS)
def is_free_between(scene, work, routines, joints, buffer, ends):
    """1 where the straight way between two configurations `ends` (2 x nq) is free, else 0: a library gives numbers."""
    s = problem_at(scene)
    x = narrow(s, work, routines)
    nq = len(x.q)
    return 1 if is_clear(s, x, joints, buffer, section(ends, 0, nq), section(ends, nq, nq)) else 0


@entry_point(WHOLE, WHOLE, WHOLE, REALS, REALS, REALS, REALS, REALS)
def find_way(scene, work, routines, joints, buffer, trees, scratch, way):
    """Write the corners of a free way from the first to the second of `way`; how many, 0 if none is found."""
    s = problem_at(scene)
    x = narrow(s, work, routines)
    nq = len(x.q)
    put(section(way, 0, nq), section(trees, 0, nq)), put(section(way, nq, nq), section(trees, NODES * nq, nq))
    return grow(s, x, joints, buffer, trees, scratch, way)


@entry_point(WHOLE, WHOLE, WHOLE, REALS, REALS, REALS, REALS, WHOLE)
def cut_short(scene, work, routines, joints, buffer, scratch, way, count):
    """Cut a way of `count` corners short; how many it has then."""
    s = problem_at(scene)
    return shorten(s, narrow(s, work, routines), joints, buffer, scratch, way, count)
