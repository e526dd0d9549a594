"""The packages that robot files name: where they are looked for, and what is said where they are not found."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.refusals import refused

from poise.common.errors import ModelWarning
from poise.io import load
from poise.io.packages import Packages, package_folders

URDF = """<robot name="r"><link name="a"><visual><geometry>
<mesh filename="package://arm/meshes/a.stl"/></geometry></visual></link></robot>"""


@pytest.fixture(autouse=True)
def no_ros(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A package `arm` two folders down, in a folder of another name."""
    package = tmp_path / "ws" / "src" / "vendor" / "arm-1.2"
    (package / "meshes").mkdir(parents=True)
    (package / "meshes" / "a.stl").touch()
    (package / "package.xml").write_text('<?xml version="1.0"?>\n<package format="3">\n <name> arm </name></package>')
    return tmp_path / "ws"


@pytest.mark.parametrize("given", [str, Path, lambda path: [path], lambda path: (str(p) for p in [path])])
@pytest.mark.parametrize("inside", ["", "src", "src/vendor", "src/vendor/arm-1.2"])
def test_one_folder_or_several(workspace: Path, given: Callable[[Path], Any], inside: str) -> None:
    robot = workspace.parent / "elsewhere" / "r.urdf"
    robot.parent.mkdir()
    robot.write_text(URDF)
    load(robot, package_dirs=given(workspace / inside))  # a warning would be an error
    load(URDF, package_dirs=given(workspace / inside))


def test_a_folder_of_the_home_may_be_written_with_a_tilde(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(workspace))
    assert package_folders("~/src") == (workspace / "src",)


def test_folders_that_are_not_there_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = tmp_path / "r.urdf"
    robot.write_text(URDF)
    monkeypatch.chdir(tmp_path)
    for source in (robot, str(robot), URDF):
        with pytest.raises(ValueError, match=re.escape(f"package_dirs has '{tmp_path}/no', which is not there")):
            load(source, package_dirs=tmp_path / "no")
        with pytest.raises(ValueError, match=re.escape(f"package_dirs has 'no' (in {tmp_path}), which is not there")):
            load(source, package_dirs=[".", "no"])
        with pytest.raises(ValueError, match="which is a file; give the folder that holds the package"):
            load(source, package_dirs=robot)


@pytest.mark.parametrize(
    ("uri", "place", "given"),
    [
        ("package://a.stl", "arm/urdf/a.stl", "arm/urdf"),
        ("package:///a.stl", "arm/urdf/a.stl", "arm/urdf"),
        ("model://a.stl", "arm/urdf/a.stl", "arm/urdf"),
        ("package://a.stl", "arm/a.stl", "arm"),
        ("meshes/a.stl", "arm/meshes/a.stl", "arm"),
        ("arm/meshes/a.stl", "arm/meshes/a.stl", ""),
        ("package:///arm/meshes/a.stl", "arm/meshes/a.stl", ""),
    ],
)
def test_files_are_found_without_a_package_and_from_the_root_of_the_package(
    tmp_path: Path, uri: str, place: str, given: str
) -> None:
    mesh, robot, elsewhere = tmp_path / place, tmp_path / "arm" / "urdf" / "r.urdf", tmp_path / "other" / "r.urdf"
    for path in (mesh, robot, elsewhere):
        path.parent.mkdir(parents=True, exist_ok=True)
    mesh.touch()
    document = URDF.replace("package://arm/meshes/a.stl", uri).replace("visual", "collision")
    robot.write_text(document)
    elsewhere.write_text(document)
    loaded = [load(robot), *(load(each, package_dirs=tmp_path / given) for each in (elsewhere, document))]
    assert [shape.file for model in loaded for shape in model.shapes["a"]] == [str(mesh)] * 3  # type: ignore[union-attr]


def test_a_file_beside_the_robot_goes_before_one_from_the_package_s_root(tmp_path: Path) -> None:
    (tmp_path / "urdf").mkdir()
    for place in (tmp_path / "a.stl", tmp_path / "urdf" / "a.stl"):
        place.touch()
    for uri in ("a.stl", "package://a.stl"):
        assert Packages(tmp_path / "urdf").file(uri)[0] == tmp_path / "urdf" / "a.stl"


def test_a_text_whose_files_are_not_found_is_told_of_package_dirs() -> None:
    with pytest.warns(ModelWarning, match="a text has no folder to look in: give package_dirs="):
        load(URDF.replace("package://arm/", ""))


def test_a_package_that_is_not_found_is_named_with_the_folders(tmp_path: Path) -> None:
    robot = tmp_path / "r.urdf"
    robot.write_text(URDF)
    (tmp_path / "given").mkdir()
    words = (
        "give package_dirs= the folder that holds 'arm' "
        f"(line 2: 'package://arm/meshes/a.stl', looked in {tmp_path / 'given'}, {tmp_path}, "
    )
    with pytest.warns(ModelWarning, match=re.escape(words)):
        load(robot, package_dirs=tmp_path / "given")
    with pytest.warns(ModelWarning, match=r"'arm' \(line 2: 'package://arm/meshes/a.stl'\)"):
        load(URDF)


def test_the_disk_is_not_walked(tmp_path: Path, workspace: Path) -> None:
    deep = tmp_path / "a" / "b" / "c" / "d" / "e" / "pkg"
    hidden = tmp_path / ".hidden" / "pkg"
    inner = workspace / "src" / "vendor" / "arm-1.2" / "inner"  # a package has no packages in it
    for folder in (deep, hidden, inner):
        folder.mkdir(parents=True)
        (folder / "package.xml").write_text("<package><name>other</name></package>")
    assert Packages(None, tmp_path).find("other") is None
    assert Packages(None, deep.parent).find("other") == deep


def test_packages_are_found_by_folder_and_by_name(workspace: Path) -> None:
    package = workspace / "src" / "vendor" / "arm-1.2"
    assert Packages(package / "urdf").find("arm") == package
    assert Packages(None, workspace).find("arm") == package
    assert Packages(None, package.parent).find("arm-1.2") == package
    assert Packages(None, workspace).find("leg") is None


def test_an_mjcf_has_no_packages(tmp_path: Path) -> None:
    robot = tmp_path / "r.xml"
    robot.write_text("<mujoco/>")
    for source in (robot, "<mujoco/>"):
        with refused("conflict", "package_dirs"):
            load(source, package_dirs=tmp_path)


@pytest.mark.parametrize("given", [None, 3])
def test_what_is_no_folder_is_called_so(given: Any) -> None:
    with pytest.raises(TypeError, match=f"package_dirs is a folder, or several, got {given}; leave it out"):
        load("<robot name='r'><link name='a'/></robot>", package_dirs=given)
