"""pink's barriers, by their names."""

from poise_compat.pink.barriers.barrier import Barrier as Barrier
from poise_compat.pink.barriers.body_spherical_barrier import BodySphericalBarrier as BodySphericalBarrier
from poise_compat.pink.barriers.position_barrier import PositionBarrier as PositionBarrier
from poise_compat.pink.barriers.self_collision_barrier import SelfCollisionBarrier as SelfCollisionBarrier
