"""What is given for a robot's file and is none, called what it is, with what to do."""

from poise.common.errors import ModelError
from poise.geometry.meshes import LFS_POINTER, is_lfs_pointer

_CONVERT = "which poise does not read; export the robot as URDF or MJCF"
_BEGINNINGS = (
    (b"PK\x03\x04", "this is a zip archive; unpack it, and give the robot's file that is in it"),
    (b"\x1f\x8b", "this is a gzip archive; unpack it, and give the robot's file that is in it"),
    (b"PXR-USDC", f"this is a USD, {_CONVERT}"),
    (b"#usda", f"this is a USD, {_CONVERT}"),
)
_MOTION = "this is a motion without its robot; `poise view ROBOT --replay` plays it, and load_motion reads it"
_PAGES = (b"<!doctype html", b"<html")
_PAGE = (
    "this is a web page, not the file that it shows; on GitHub and the like, save what the button 'Raw' leads to, "
    "or clone the repository"
)
_ROOTS = {
    "sdf": f"this is an SDF, {_CONVERT}",
    "gazebo": f"this is a file of Gazebo, {_CONVERT}",
    "mujocoinclude": "this is a part that an MJCF includes; give the file that includes it",
    "COLLADA": "this is a mesh, not a robot; give the file that names it",
    "launch": "this is a launch file of ROS; give the URDF or xacro file that it names",
    "package": "this describes a package of ROS; give the URDF or xacro file in it",
    "html": _PAGE,
}
XACRO_MJCF = "this is an MJCF written in xacro; expand it, as in `xacro FILE -o robot.xml`, and load that"


def refuse_foreign(data: bytes, file: str | None) -> None:
    """Raises ModelError for what no reader of robots could make sense of, by how it begins."""
    start = data[:256].removeprefix(b"\xef\xbb\xbf").lstrip()
    if is_lfs_pointer(start):
        raise ModelError(LFS_POINTER, file=file)
    if start.startswith(b"PK\x03\x04") and b"time_s.npy" in start:
        raise ModelError(_MOTION, file=file)
    for beginning, message in _BEGINNINGS:
        if start.startswith(beginning):
            raise ModelError(message, file=file)
    if start.lower().startswith(_PAGES):
        raise ModelError(_PAGE, file=file)


def foreign_root(tag: str) -> str:
    """Why a document with this root is no robot."""
    return _ROOTS.get(tag, f"the root of a URDF is <robot>, and of an MJCF <mujoco>, not <{tag}>")
