"""What is no robot's file is called what it is, with what to do; a robot may also be given as text."""

import gzip
import re
import zipfile
from pathlib import Path

import pytest

from poise.common.errors import ModelError, ModelWarning
from poise.geometry.meshes import MeshShape, read_mesh
from poise.io import load

URDF = '<robot name="r">\n<link name="a"/>\n</robot>'
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22e\nsize 12345\n"
EXPORT = "which poise does not read; export the robot as URDF or MJCF"
PAGE = "this is a web page, not the file that it shows; on GitHub and the like, save what the button 'Raw' leads to"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (POINTER, "this is a Git LFS pointer, not the file that it stands for; run 'git lfs pull' in its repository"),
        ("\n<!DOCTYPE html>\n<html lang='en'></html>", PAGE),
        ("<HTML><body/></HTML>", PAGE),
        ("<!-- saved -->\n<html/>", PAGE),
        ("#usda 1.0\n", f"this is a USD, {EXPORT}"),
        ("PXR-USDC\0\0", f"this is a USD, {EXPORT}"),
        ('<sdf version="1.7"/>', f"this is an SDF, {EXPORT}"),
        ("<COLLADA/>", "this is a mesh, not a robot; give the file that names it"),
        ("<launch/>", "this is a launch file of ROS; give the URDF or xacro file that it names"),
        ("<package/>", "this describes a package of ROS; give the URDF or xacro file in it"),
        ("<worldbody/>", "the root of a URDF is <robot>, and of an MJCF <mujoco>, not <worldbody>"),
        (
            '<robot name="r"><group name="g"/></robot>',
            "this is an SRDF, which adds groups and postures to a robot; give",
        ),
        ('<robot name="r"><disable_collisions/></robot>', "this is an SRDF"),
        ("<mujocoinclude/>", "this is a part that an MJCF includes; give the file that includes it"),
        ("", "the file is empty"),
        (" \n", "the file is empty"),
        ("solid a\nfacet normal 0 0 1", "not XML"),
    ],
)
@pytest.mark.parametrize("name", ["r.urdf", "r.xml", "r.xacro"])
def test_other_files_are_called_what_they_are(tmp_path: Path, name: str, content: str, words: str) -> None:
    if name == "r.xacro":
        pytest.importorskip("xacro")
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ModelError, match=re.escape(words)) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))


def test_archives_are_to_be_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
        archive.writestr("r.urdf", URDF)
    (tmp_path / "r.urdf.gz").write_bytes(gzip.compress(URDF.encode()))
    for name, kind in (("r.zip", "zip"), ("r.urdf.gz", "gzip")):
        for source in (tmp_path / name, str(tmp_path / name)):
            with pytest.raises(ModelError, match=f"this is a {kind} archive; unpack it, and give the robot's file"):
                load(source)


def test_a_directory_is_answered_with_a_file_in_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"it is a directory; give a file in it$"):
        load(tmp_path)
    (tmp_path / "urdf").mkdir()
    (tmp_path / "urdf" / "r.urdf").write_text(URDF)
    with pytest.raises(ModelError, match=re.escape(f"give a file in it, such as {tmp_path / 'urdf' / 'r.urdf'}")):
        load(str(tmp_path))


@pytest.mark.parametrize("source", ["https://example.com/r.urdf", "package://arm/r.urdf", "file:///r.urdf"])
def test_addresses_are_not_followed(source: str) -> None:
    with pytest.raises(ModelError, match="this is an address, not a path"):
        load(source)


def test_a_mesh_that_is_a_pointer_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "a.stl").write_text(POINTER)
    with pytest.raises(ModelError, match=r"a.stl: this is a Git LFS pointer, .* run 'git lfs pull'"):
        read_mesh(MeshShape(str(tmp_path / "a.stl")))


def test_meshes_that_are_pointers_are_told_of_when_a_urdf_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.stl").write_text(POINTER)
    path = tmp_path / "r.urdf"
    mesh = '<visual><geometry><mesh filename="a.stl"/></geometry></visual>'
    path.write_text(f'<robot name="r"><link name="a">{mesh}{mesh}</link></robot>')
    with pytest.warns(ModelWarning, match=r"mesh is a Git LFS pointer, .* 'git lfs pull' for it \(line 1: .*a.stl\)"):
        load(path)


def test_a_part_of_another_file_is_told_with_that_file(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    part, whole = tmp_path / "part.xml", tmp_path / "whole.xml"
    part.write_text('<mujocoinclude><body name="b" childclass="c"><geom size="1"/></body></mujocoinclude>')
    whole.write_text('<mujoco><worldbody><include file="part.xml"/></worldbody></mujoco>')
    with pytest.raises(ModelError, match=f"if this file is a part of {re.escape(str(whole))}, which includes it, give"):
        load(part)
    part.write_text('<mujoco><default><default class="c"/></default></mujoco>')
    with pytest.raises(
        ModelError, match=f"this MJCF has no bodies.*; if this file is a part of {re.escape(str(whole))}"
    ):
        load(part)


# Text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before", ["", "\n  ", "\ufeff", "\ufeff\n", '<?xml version="1.0" encoding="latin-1"?>', "<!-- a -->"]
)
def test_a_urdf_as_text(before: str) -> None:
    assert load(before + URDF).links == ("a",)
    assert load(before + URDF, base="planar").nq == 3
    assert load(before + URDF.replace(' name="r"', "")).name == "robot"


def test_errors_in_a_text_name_it_and_the_line() -> None:
    for text, line, words in (
        (URDF.replace("link", "lnik"), 1, "the robot has no <link>"),
        (URDF.replace("</robot>", "<joint/></robot>"), 3, "joint"),
        (URDF.replace("</robot>", ""), 3, "not XML"),
        ("<!doctype html><html/>", None, PAGE),
        ("<sdf/>", 1, "this is an SDF"),
    ):
        with pytest.raises(ModelError, match=re.escape(words)) as caught:
            load(text)
        assert (caught.value.file, caught.value.line) == ("the text", line)


def test_a_text_has_no_folder_for_meshes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.stl").touch()
    mesh = '<link name="a"><visual><geometry><mesh filename="{}"/></geometry></visual></link>'
    with pytest.warns(ModelWarning, match="mesh not found, .*; a text has no folder to look in"):
        load(URDF.replace('<link name="a"/>', mesh.format("a.stl")))
    load(URDF.replace('<link name="a"/>', mesh.format(tmp_path / "a.stl")))
