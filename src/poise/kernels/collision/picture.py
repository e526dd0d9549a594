"""Which of many points, as a camera sees them, the shapes of a scene come near."""

from poise.kernels.collision.cloud import GAPS, from_core, not_below
from poise.kernels.collision.near import place_all
from poise.kernels.collision.placing import ORIGIN, X, Y, Z, part
from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import REAL, REALS, WHOLE
from poise.kernels.machine.lanes import any_of, load_pack, select, store_pack, zeros
from poise.kernels.machine.layout import HULL, WIDTH
from poise.kernels.machine.views import flat, narrow, problem_at


@entry_point(WHOLE, WHOLE, WHOLE, REALS, REAL, REALS)
def near_points(scene, work, routines, points, margin, near):
    """near (as many, in whole packs): 1 of points (n x 3) that at x.q are nearer than `margin` to a shape, else 0."""
    s = problem_at(scene)
    x = narrow(s, work, routines)
    place_all(s, x)
    numbers, last = flat(x.room), len(points) // 3 - 1
    for pack in range(len(near) // WIDTH):
        for k in range(WIDTH):
            i = 3 * min(WIDTH * pack + k, last)
            for r in range(3):
                numbers[WIDTH * r + k] = points[i + r]
        seen = load_pack(numbers, 0), load_pack(numbers, 1), load_pack(numbers, 2)
        found = zeros(numbers)
        for j in range(s.scene[0].count):
            shape, frame = s.shapes[j], _frame(x, j)
            gaps = not_below(shape, frame, seen) - shape.radius
            if shape.core == HULL and any_of(gaps < margin):
                gaps = _from_hull(s, numbers, j, frame, seen, gaps, margin)
            found = select(gaps < margin, 1.0, found)
        store_pack(near, pack, found)


@kernel
def _frame(x, j):
    """The place and the axes of shape j."""
    rows = x.proximity.shape_frames
    return part(rows, j, ORIGIN), part(rows, j, X), part(rows, j, Y), part(rows, j, Z)


@kernel
def _from_hull(s, numbers, j, frame, seen, gaps, margin):
    """The distances of shape j, a hull, to eight points, where its spine does not tell that they are not below."""
    store_pack(numbers, GAPS // WIDTH, gaps)
    for k in range(WIDTH):
        if numbers[GAPS + k] < margin:
            store_pack(numbers, 0, seen[0]), store_pack(numbers, 1, seen[1]), store_pack(numbers, 2, seen[2])
            point = numbers[k], numbers[k + WIDTH], numbers[k + 2 * WIDTH]
            distance = from_core(s.shapes[j], s.shapes[s.scene[0].count], s.vertices, numbers, frame, point)[0]
            numbers[GAPS + k] = distance - s.shapes[j].radius
    return load_pack(numbers, GAPS // WIDTH)
