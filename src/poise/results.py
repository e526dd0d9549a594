"""What functions answer with: no program makes one of these itself, but it may name them as types."""

from poise.bench.report import Comparison as Comparison
from poise.calibration.calibration import Calibration as Calibration
from poise.model.fitting import ShapeFit as ShapeFit
from poise.model.proximity import Proximities as Proximities
from poise.model.proximity import Proximity as Proximity
from poise.retargeting.report import Report as Report
from poise.retargeting.retarget import Retargeted as Retargeted
from poise.solving.active import ActiveLimit as ActiveLimit
from poise.solving.batch import SolutionBatch as SolutionBatch
from poise.solving.batch_gradient import BatchGradient as BatchGradient
from poise.solving.branches import Branch as Branch
from poise.solving.branches import BranchBatch as BranchBatch
from poise.solving.branches import Solutions as Solutions
from poise.solving.certificate import Certificate as Certificate
from poise.solving.gradient import SolutionGradient as SolutionGradient
from poise.solving.outcome import Trace as Trace
from poise.solving.path.jumps import Jump as Jump
from poise.solving.path.path import PathFailure as PathFailure
from poise.tasks.error import TaskError as TaskError
from poise.viewer.app import Viewer as Viewer
