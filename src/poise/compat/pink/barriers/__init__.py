"""pink's barriers, by their names."""

from poise.compat.pink.barriers.barrier import Barrier as Barrier
from poise.compat.pink.barriers.places import BodySphericalBarrier as BodySphericalBarrier
from poise.compat.pink.barriers.places import PositionBarrier as PositionBarrier
from poise.compat.pink.barriers.self_collision import SelfCollisionBarrier as SelfCollisionBarrier
