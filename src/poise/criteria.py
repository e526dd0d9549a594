"""Null-space criteria: what a redundant robot likes, where its tasks leave it free."""

from poise.methods.criteria import Clearance as Clearance
from poise.methods.criteria import JointCentring as JointCentring
from poise.methods.criteria import LimitDistance as LimitDistance
from poise.methods.criteria import Manipulability as Manipulability
from poise.methods.criteria import Potential as Potential
from poise.methods.criteria import RestPosture as RestPosture
from poise.solving.tracking.optimum import algorithmic_singularity as algorithmic_singularity
from poise.solving.tracking.optimum import relax as relax
