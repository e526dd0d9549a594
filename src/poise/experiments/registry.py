"""Experiments by their names."""

from types import MappingProxyType
from typing import Any, Final

from poise.errors import ExperimentNotFound
from poise.experiments.base import Experiment
from poise.experiments.buss.report import BUSS
from poise.experiments.das.report import DAS
from poise.experiments.limits import LIMITS
from poise.experiments.motion_bench_maker.report import MOTION_BENCH_MAKER
from poise.experiments.soch_lorencz.report import SOCH_LORENCZ

_ALL: tuple[Experiment[Any], ...] = (BUSS, DAS, SOCH_LORENCZ, LIMITS, MOTION_BENCH_MAKER)
EXPERIMENTS: Final = MappingProxyType({experiment.name: experiment for experiment in _ALL})
"""The experiment of each name."""


def experiment_of(name: str) -> Experiment[Any]:
    """The experiment of this name; raises ExperimentNotFound with the nearest ones."""
    if name not in EXPERIMENTS:
        raise ExperimentNotFound(name, EXPERIMENTS, owner="poise")
    return EXPERIMENTS[name]
