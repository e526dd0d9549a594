"""poise: inverse kinematics for Python.

Load a model, state tasks, solve; the answer is certified by forward kinematics and keeps every joint limit.

>>> import poise as pz
>>> arm = pz.load("panda")
>>> goal = pz.PoseTask("panda_hand", target=pz.SE3.from_xyz_rpy([0.4, 0.1, 0.5], [3.14159, 0, 0]))
>>> pz.solve(arm, goal).success
True
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import poise.scale as scale  # noqa: F401  # a module
    from poise.bench.compare import compare as compare
    from poise.bench.report import Comparison as Comparison
    from poise.errors import FrameNotFound as FrameNotFound
    from poise.errors import JointNotFound as JointNotFound
    from poise.errors import MissingExtra as MissingExtra
    from poise.errors import ModelError as ModelError
    from poise.errors import ModelWarning as ModelWarning
    from poise.errors import PoiseError as PoiseError
    from poise.errors import ShapeError as ShapeError
    from poise.errors import ShapeNotFound as ShapeNotFound
    from poise.geometry.meshes import MeshShape as MeshShape
    from poise.geometry.shapes import Box as Box
    from poise.geometry.shapes import Capsule as Capsule
    from poise.geometry.shapes import ConvexHull as ConvexHull
    from poise.geometry.shapes import HalfSpace as HalfSpace
    from poise.geometry.shapes import Sphere as Sphere
    from poise.geometry.visuals import Visual as Visual
    from poise.geometry.world import World as World
    from poise.io import load as load
    from poise.io.dh import DH as DH
    from poise.io.dh import from_dh as from_dh
    from poise.methods.base import ClampMag as ClampMag
    from poise.methods.bounded import BoundedLeastSquares as BoundedLeastSquares
    from poise.methods.ccd import CyclicCoordinateDescent as CyclicCoordinateDescent
    from poise.methods.criteria import Clearance as Clearance
    from poise.methods.criteria import JointCentring as JointCentring
    from poise.methods.criteria import LimitDistance as LimitDistance
    from poise.methods.criteria import Manipulability as Manipulability
    from poise.methods.criteria import Potential as Potential
    from poise.methods.criteria import RestPosture as RestPosture
    from poise.methods.damped import DampedLeastSquares as DampedLeastSquares
    from poise.methods.damping import ChanLawrence as ChanLawrence
    from poise.methods.damping import Chiaverini as Chiaverini
    from poise.methods.damping import ChiaveriniSicilianoEgeland as ChiaveriniSicilianoEgeland
    from poise.methods.damping import Constant as Constant
    from poise.methods.damping import Curvature as Curvature
    from poise.methods.damping import DeoWalker as DeoWalker
    from poise.methods.damping import GainRatio as GainRatio
    from poise.methods.damping import MaciejewskiKlein as MaciejewskiKlein
    from poise.methods.damping import MaxNorm as MaxNorm
    from poise.methods.damping import NakamuraHanafusa as NakamuraHanafusa
    from poise.methods.damping import RateBound as RateBound
    from poise.methods.damping import Sugihara as Sugihara
    from poise.methods.das import DasSlotineSheridan as DasSlotineSheridan
    from poise.methods.extended import ExtendedJacobian as ExtendedJacobian
    from poise.methods.fabrik import Fabrik as Fabrik
    from poise.methods.filtered import FilteredInverse as FilteredInverse
    from poise.methods.halley import Halley as Halley
    from poise.methods.hybrid import Hybrid as Hybrid
    from poise.methods.newton import GaussNewton as GaussNewton
    from poise.methods.newton import LevenbergMarquardt as LevenbergMarquardt
    from poise.methods.pairwise import PairwiseJacobian as PairwiseJacobian
    from poise.methods.priority import TaskPriority as TaskPriority
    from poise.methods.pseudoinverse import Pseudoinverse as Pseudoinverse
    from poise.methods.quasi_newton import BFGS as BFGS
    from poise.methods.quasi_newton import LBFGS as LBFGS
    from poise.methods.registry import METHODS as METHODS
    from poise.methods.selective import SelectivelyDamped as SelectivelyDamped
    from poise.methods.transpose import JacobianTranspose as JacobianTranspose
    from poise.model.builder import ModelBuilder as ModelBuilder
    from poise.model.fitting import ShapeFit as ShapeFit
    from poise.model.fitting import fit_shapes as fit_shapes
    from poise.model.frame import Frame as Frame
    from poise.model.human import human_limits as human_limits
    from poise.model.joint import Joint as Joint
    from poise.model.joint import JointKind as JointKind
    from poise.model.joint import Mimic as Mimic
    from poise.model.loop import Loop as Loop
    from poise.model.model import Model as Model
    from poise.model.proximity import Proximities as Proximities
    from poise.model.proximity import Proximity as Proximity
    from poise.model.swing import SwingTwist as SwingTwist
    from poise.motion.clip import Motion as Motion
    from poise.motion.clip import load_motion as load_motion
    from poise.motion.positions import motion_from_positions as motion_from_positions
    from poise.rate import Rate as Rate
    from poise.reachability.map import ReachMap as ReachMap
    from poise.reachability.search import reach as reach
    from poise.retargeting.body import BodyMap as BodyMap
    from poise.retargeting.hand_files import load_hand_retargeter as load_hand_retargeter
    from poise.retargeting.hands import HandRetargeter as HandRetargeter
    from poise.retargeting.hands import Pinch as Pinch
    from poise.retargeting.report import Report as Report
    from poise.retargeting.retarget import Retargeted as Retargeted
    from poise.retargeting.retarget import retarget as retarget
    from poise.solving.active import ActiveLimit as ActiveLimit
    from poise.solving.batch import SolutionBatch as SolutionBatch
    from poise.solving.batch import solve_batch as solve_batch
    from poise.solving.branches import Branch as Branch
    from poise.solving.branches import BranchBatch as BranchBatch
    from poise.solving.branches import BranchSolver as BranchSolver
    from poise.solving.branches import Solutions as Solutions
    from poise.solving.branches import solve_all as solve_all
    from poise.solving.collision import CollisionLimit as CollisionLimit
    from poise.solving.inequalities import AccelerationLimit as AccelerationLimit
    from poise.solving.inequalities import JerkLimit as JerkLimit
    from poise.solving.inequalities import LinearLimit as LinearLimit
    from poise.solving.inequalities import TwistLimit as TwistLimit
    from poise.solving.inequalities import VelocityLimit as VelocityLimit
    from poise.solving.leash import Leash as Leash
    from poise.solving.outcome import Status as Status
    from poise.solving.outcome import Trace as Trace
    from poise.solving.path.jumps import Jump as Jump
    from poise.solving.path.jumps import jumps as jumps
    from poise.solving.path.law import JointState as JointState
    from poise.solving.path.path import JointPath as JointPath
    from poise.solving.path.path import PathFailure as PathFailure
    from poise.solving.path.path import PathStatus as PathStatus
    from poise.solving.path.solve import solve_path as solve_path
    from poise.solving.path.stations import plan as plan
    from poise.solving.solution import Solution as Solution
    from poise.solving.solver import Solver as Solver
    from poise.solving.solver import solve as solve
    from poise.solving.tracker import Tracker as Tracker
    from poise.solving.twist import Twist as Twist
    from poise.spatial import SE3 as SE3
    from poise.spatial import SO3 as SO3
    from poise.tasks.aim import AxisTask as AxisTask
    from poise.tasks.aim import LookAtTask as LookAtTask
    from poise.tasks.base import Task as Task
    from poise.tasks.cone import ConeTask as ConeTask
    from poise.tasks.coupling import JointCouplingTask as JointCouplingTask
    from poise.tasks.distance import DistanceTask as DistanceTask
    from poise.tasks.error import TaskError as TaskError
    from poise.tasks.loop import LoopTask as LoopTask
    from poise.tasks.mass import CentreOfMassTask as CentreOfMassTask
    from poise.tasks.pose import OrientationTask as OrientationTask
    from poise.tasks.pose import PoseTask as PoseTask
    from poise.tasks.pose import PositionTask as PositionTask
    from poise.tasks.posture import PostureTask as PostureTask
    from poise.tasks.region import RegionTask as RegionTask
    from poise.tasks.rolling import RollingTask as RollingTask
    from poise.tasks.support import SupportTask as SupportTask
    from poise.tasks.surface import LineTask as LineTask
    from poise.tasks.surface import PlaneTask as PlaneTask
    from poise.tasks.swivel import SwivelTask as SwivelTask
    from poise.tasks.vector import VectorTask as VectorTask
    from poise.tasks.velocity import DampingTask as DampingTask
    from poise.tasks.velocity import JointVelocityTask as JointVelocityTask
    from poise.viewer.app import Viewer as Viewer
    from poise.viewer.app import view as view

__version__ = "0.1.0"

_HOME = {
    "view": "poise.viewer.app",
    "Viewer": "poise.viewer.app",
    "plan": "poise.solving.path.stations",
    "solve_path": "poise.solving.path.solve",
    "PathStatus": "poise.solving.path.path",
    "PathFailure": "poise.solving.path.path",
    "JointPath": "poise.solving.path.path",
    "JointState": "poise.solving.path.law",
    "jumps": "poise.solving.path.jumps",
    "Jump": "poise.solving.path.jumps",
    "BFGS": "poise.methods.quasi_newton",
    "DH": "poise.io.dh",
    "LBFGS": "poise.methods.quasi_newton",
    "METHODS": "poise.methods.registry",
    "SE3": "poise.spatial",
    "SO3": "poise.spatial",
    "AxisTask": "poise.tasks.aim",
    "BoundedLeastSquares": "poise.methods.bounded",
    "BodyMap": "poise.retargeting.body",
    "Report": "poise.retargeting.report",
    "Retargeted": "poise.retargeting.retarget",
    "retarget": "poise.retargeting.retarget",
    "Box": "poise.geometry.shapes",
    "Capsule": "poise.geometry.shapes",
    "Branch": "poise.solving.branches",
    "BranchBatch": "poise.solving.branches",
    "BranchSolver": "poise.solving.branches",
    "CentreOfMassTask": "poise.tasks.mass",
    "ChanLawrence": "poise.methods.damping",
    "Chiaverini": "poise.methods.damping",
    "ChiaveriniSicilianoEgeland": "poise.methods.damping",
    "ClampMag": "poise.methods.base",
    "Clearance": "poise.methods.criteria",
    "CollisionLimit": "poise.solving.collision",
    "Comparison": "poise.bench.report",
    "ConeTask": "poise.tasks.cone",
    "DampingTask": "poise.tasks.velocity",
    "Constant": "poise.methods.damping",
    "ConvexHull": "poise.geometry.shapes",
    "Curvature": "poise.methods.damping",
    "CyclicCoordinateDescent": "poise.methods.ccd",
    "DampedLeastSquares": "poise.methods.damped",
    "DasSlotineSheridan": "poise.methods.das",
    "DeoWalker": "poise.methods.damping",
    "DistanceTask": "poise.tasks.distance",
    "ExtendedJacobian": "poise.methods.extended",
    "Fabrik": "poise.methods.fabrik",
    "FilteredInverse": "poise.methods.filtered",
    "Frame": "poise.model.frame",
    "FrameNotFound": "poise.errors",
    "GainRatio": "poise.methods.damping",
    "GaussNewton": "poise.methods.newton",
    "HalfSpace": "poise.geometry.shapes",
    "HandRetargeter": "poise.retargeting.hands",
    "Halley": "poise.methods.halley",
    "Hybrid": "poise.methods.hybrid",
    "JacobianTranspose": "poise.methods.transpose",
    "Joint": "poise.model.joint",
    "JointCentring": "poise.methods.criteria",
    "JointCouplingTask": "poise.tasks.coupling",
    "JointVelocityTask": "poise.tasks.velocity",
    "JointKind": "poise.model.joint",
    "JointNotFound": "poise.errors",
    "LevenbergMarquardt": "poise.methods.newton",
    "Leash": "poise.solving.leash",
    "LimitDistance": "poise.methods.criteria",
    "LineTask": "poise.tasks.surface",
    "ActiveLimit": "poise.solving.active",
    "AccelerationLimit": "poise.solving.inequalities",
    "JerkLimit": "poise.solving.inequalities",
    "LinearLimit": "poise.solving.inequalities",
    "TwistLimit": "poise.solving.inequalities",
    "VelocityLimit": "poise.solving.inequalities",
    "LookAtTask": "poise.tasks.aim",
    "Loop": "poise.model.loop",
    "LoopTask": "poise.tasks.loop",
    "MaciejewskiKlein": "poise.methods.damping",
    "Manipulability": "poise.methods.criteria",
    "MaxNorm": "poise.methods.damping",
    "MeshShape": "poise.geometry.meshes",
    "Mimic": "poise.model.joint",
    "MissingExtra": "poise.errors",
    "Model": "poise.model.model",
    "SwingTwist": "poise.model.swing",
    "human_limits": "poise.model.human",
    "ModelBuilder": "poise.model.builder",
    "ModelError": "poise.errors",
    "ModelWarning": "poise.errors",
    "Motion": "poise.motion.clip",
    "NakamuraHanafusa": "poise.methods.damping",
    "OrientationTask": "poise.tasks.pose",
    "PairwiseJacobian": "poise.methods.pairwise",
    "Pinch": "poise.retargeting.hands",
    "PlaneTask": "poise.tasks.surface",
    "PoiseError": "poise.errors",
    "PoseTask": "poise.tasks.pose",
    "PositionTask": "poise.tasks.pose",
    "PostureTask": "poise.tasks.posture",
    "Potential": "poise.methods.criteria",
    "Proximities": "poise.model.proximity",
    "Proximity": "poise.model.proximity",
    "Pseudoinverse": "poise.methods.pseudoinverse",
    "Rate": "poise.rate",
    "RateBound": "poise.methods.damping",
    "ReachMap": "poise.reachability.map",
    "RegionTask": "poise.tasks.region",
    "RollingTask": "poise.tasks.rolling",
    "RestPosture": "poise.methods.criteria",
    "SelectivelyDamped": "poise.methods.selective",
    "ShapeError": "poise.errors",
    "ShapeNotFound": "poise.errors",
    "ShapeFit": "poise.model.fitting",
    "Solution": "poise.solving.solution",
    "SolutionBatch": "poise.solving.batch",
    "Solutions": "poise.solving.branches",
    "Solver": "poise.solving.solver",
    "Sphere": "poise.geometry.shapes",
    "Status": "poise.solving.outcome",
    "Sugihara": "poise.methods.damping",
    "SupportTask": "poise.tasks.support",
    "SwivelTask": "poise.tasks.swivel",
    "Task": "poise.tasks.base",
    "TaskError": "poise.tasks.error",
    "TaskPriority": "poise.methods.priority",
    "Trace": "poise.solving.outcome",
    "Tracker": "poise.solving.tracker",
    "Twist": "poise.solving.twist",
    "VectorTask": "poise.tasks.vector",
    "Visual": "poise.geometry.visuals",
    "World": "poise.geometry.world",
    "compare": "poise.bench.compare",
    "fit_shapes": "poise.model.fitting",
    "from_dh": "poise.io.dh",
    "load": "poise.io",
    "load_hand_retargeter": "poise.retargeting.hand_files",
    "load_motion": "poise.motion.clip",
    "motion_from_positions": "poise.motion.positions",
    "reach": "poise.reachability.search",
    "solve": "poise.solving.solver",
    "solve_batch": "poise.solving.batch",
    "solve_all": "poise.solving.branches",
}
"""Where each public name lives; importing poise imports none of these modules, so it costs no more than this file."""

_ROOMS = ("scale",)
"""Public modules, imported when they are first used likewise."""

__all__ = ["__version__", *sorted([*_HOME, *_ROOMS])]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"poise.{name}")
    try:
        module = _HOME[name]
    except KeyError:
        from poise.errors import nearest_names

        near = () if name.startswith("_") else nearest_names(name, (*_HOME, *_ROOMS))
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise AttributeError(f"module 'poise' has no attribute {name!r}{hint}", name=name) from None
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_ROOMS})
