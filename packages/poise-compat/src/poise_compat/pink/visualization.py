"""pink's viewers, which are Pinocchio's: they need meshcat or viser."""

from typing import Any

from pinocchio import visualize


def start_meshcat_visualizer(robot: Any, open: bool = True) -> Any:  # as the original calls it
    """A robot in meshcat."""
    return _started(visualize.MeshcatVisualizer, robot, open)


def start_viser_visualizer(robot: Any, open: bool = True) -> Any:
    """A robot in viser."""
    viewer = _started(visualize.ViserVisualizer, robot, open)
    viewer.displayCollisions(False)
    viewer.displayVisuals(True)
    viewer.displayFrames(False)
    return viewer


def _started(kind: Any, robot: Any, shown: bool) -> Any:
    viewer = kind(robot.model, robot.collision_model, robot.visual_model)
    robot.setVisualizer(viewer, init=False)
    viewer.initViewer(open=shown)
    viewer.loadViewerModel()
    return viewer
