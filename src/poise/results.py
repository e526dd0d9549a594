"""What functions answer with: no program makes one of these itself, but it may name them as types."""

from poise.bench.report import Comparison as Comparison
from poise.calibration.calibration import Calibration as Calibration
from poise.model.fitting import ShapeFit as ShapeFit
from poise.model.proximity import Proximities as Proximities
from poise.model.proximity import Proximity as Proximity
from poise.retargeting.report.report import Report as Report
from poise.retargeting.retarget import Retargeted as Retargeted
from poise.solving.answers.branches import Branch as Branch
from poise.solving.answers.branches import BranchBatch as BranchBatch
from poise.solving.answers.branches import Solutions as Solutions
from poise.solving.gradients.batch_gradient import BatchGradient as BatchGradient
from poise.solving.gradients.gradient import SolutionGradient as SolutionGradient
from poise.solving.path.jumps import Jump as Jump
from poise.solving.path.path import PathFailure as PathFailure
from poise.solving.requirements.active_limits import ActiveLimit as ActiveLimit
from poise.solving.requirements.outcome import Trace as Trace
from poise.solving.solvers.batch import SolutionBatch as SolutionBatch
from poise.solving.solvers.differentiable import Functions as Functions
from poise.solving.tracking.optimum import AlgorithmicSingularity as AlgorithmicSingularity
from poise.solving.unreachable.certificate import Certificate as Certificate
from poise.tasks.error import TaskError as TaskError
from poise.viewer.app import Viewer as Viewer
