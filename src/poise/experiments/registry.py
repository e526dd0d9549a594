"""Experiments by their names."""

from types import MappingProxyType
from typing import Any, Final

from poise.common.errors import ExperimentNotFound
from poise.experiments.base import Experiment
from poise.experiments.buss.report import BUSS
from poise.experiments.das.report import DAS
from poise.experiments.haviland_corke import HAVILAND_CORKE
from poise.experiments.iklink.report import IKLINK
from poise.experiments.limits import LIMITS
from poise.experiments.motion_bench_maker.report import MOTION_BENCH_MAKER
from poise.experiments.quik import QUIK
from poise.experiments.random_arms import RANDOM_ARMS
from poise.experiments.rtb import RTB
from poise.experiments.soch_lorencz.report import SOCH_LORENCZ
from poise.experiments.torm.report import TORM
from poise.experiments.trac_ik import TRAC_IK
from poise.experiments.xarm import XARM

_ALL: tuple[Experiment[Any], ...] = (
    BUSS, DAS, SOCH_LORENCZ, LIMITS, MOTION_BENCH_MAKER, TRAC_IK, QUIK, HAVILAND_CORKE, XARM, RANDOM_ARMS, RTB,
    IKLINK, TORM,
)  # fmt: skip
EXPERIMENTS: Final = MappingProxyType({experiment.name: experiment for experiment in _ALL})
"""The experiment of each name."""


def experiment_of(name: str) -> Experiment[Any]:
    """The experiment of this name; raises ExperimentNotFound with the nearest ones."""
    if name not in EXPERIMENTS:
        raise ExperimentNotFound(name, EXPERIMENTS, owner="poise")
    return EXPERIMENTS[name]
