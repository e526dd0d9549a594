"""Experiments by their names."""

from types import MappingProxyType
from typing import Any, Final

from poise.extending import NameNotFound
from poise_experiments.base import Experiment
from poise_experiments.buss.report import BUSS
from poise_experiments.das.report import DAS
from poise_experiments.haviland_corke import HAVILAND_CORKE
from poise_experiments.iklink.report import IKLINK
from poise_experiments.limits import LIMITS
from poise_experiments.motion_bench_maker.report import MOTION_BENCH_MAKER
from poise_experiments.quik import QUIK
from poise_experiments.random_arms import RANDOM_ARMS
from poise_experiments.rtb import RTB
from poise_experiments.soch_lorencz.report import SOCH_LORENCZ
from poise_experiments.torm.report import TORM
from poise_experiments.trac_ik import TRAC_IK
from poise_experiments.xarm import XARM

_ALL: tuple[Experiment[Any], ...] = (
    BUSS, DAS, SOCH_LORENCZ, LIMITS, MOTION_BENCH_MAKER, TRAC_IK, QUIK, HAVILAND_CORKE, XARM, RANDOM_ARMS, RTB,
    IKLINK, TORM,
)  # fmt: skip
EXPERIMENTS: Final = MappingProxyType({experiment.name: experiment for experiment in _ALL})
"""The experiment of each name."""


def experiment_of(name: str) -> Experiment[Any]:
    """The experiment of this name; raises NameNotFound with the nearest ones."""
    if name not in EXPERIMENTS:
        raise NameNotFound(name, EXPERIMENTS, owner="poise", noun="experiment")
    return EXPERIMENTS[name]


def references() -> dict[str, tuple[str, ...]]:
    """The key of the paper that each experiment repeats, for `poise cite`."""
    return {name: (experiment.reference,) for name, experiment in EXPERIMENTS.items()}
