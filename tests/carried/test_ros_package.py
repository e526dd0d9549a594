"""The package of ROS around the plug-ins: its manifest, its build with stand-ins for ament, and what it launches."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.ros_host import EIGEN, ROOT

from poise.build.sdk import write_sdk
from poise.kernels.machine.library import library

PACKAGE = ROOT / "ros2" / "poise_kinematics"


@pytest.mark.parametrize("file", sorted((ROOT / "ros2").glob("*/package.xml")), ids=lambda file: file.parent.name)
def test_ros_reads_the_manifest(file: Path) -> None:
    found = pytest.importorskip("catkin_pkg.package").parse_package(file)
    warnings: list[str] = []
    found.validate(warnings=warnings)
    assert warnings == []
    assert found.name == file.parent.name
    assert found.licenses == ["Apache-2.0"]
    assert found.get_build_type() == "ament_cmake"
    assert all("@" in person.email for person in found.maintainers)


def test_the_build_depends_on_what_the_manifest_says() -> None:
    text = (PACKAGE / "CMakeLists.txt").read_text()
    manifest = (PACKAGE / "package.xml").read_text()
    depends = set(re.findall(r"<(?:buildtool_)?depend>(\w+)</", manifest))
    found = {name.lower() for name in re.findall(r"find_package\((\w+)", text)} - {"threads", "poise"}
    assert {name.replace("eigen3", "eigen") for name in found} == depends
    assert "ament_target_dependencies" not in text
    launched = (PACKAGE / "launch" / "panda.launch.py").read_text()
    used = set(re.findall(r'package="(\w+)"|get_package_share_directory\("(\w+)"\)', launched))
    for name in {one or other for one, other in used} - {"poise_kinematics"}:
        assert f"<exec_depend>{name}</exec_depend>" in manifest


@pytest.mark.filterwarnings("ignore:nodes.Node.traverse")  # by catkin_pkg
def test_ros_reads_the_changelog_once_it_has_a_version() -> None:
    module = pytest.importorskip("catkin_pkg.changelog")
    text = (PACKAGE / "CHANGELOG.rst").read_text()
    text = text.replace("Forthcoming\n-----------", "1.2.3 (2030-01-31)\n------------------")
    read = module.populate_changelog_from_rst(module.Changelog("poise_kinematics"), text)
    assert next(version for version, *_ in read.foreach_version(reverse=True))
    assert text.splitlines()[1] == "Changelog for package poise_kinematics"


def stand_ins(folder: Path) -> Path:
    """What `find_package` finds of ROS: targets that lead to the stubs, and functions that do next to nothing."""
    targets = {
        "ament_cmake": [],
        "ament_index_cpp": ["ament_index_cpp"],
        "generate_parameter_library": [],
        "kinematics_interface": ["kinematics_interface"],
        "moveit_core": ["moveit_kinematics_base", "moveit_robot_model"],
        "moveit_msgs": ["moveit_msgs__rosidl_generator_cpp"],
        "pluginlib": ["pluginlib"],
        "rclcpp": ["rclcpp"],
    }
    functions = {
        "ament_cmake": "function(ament_package)\nendfunction()\n",
        "pluginlib": "function(pluginlib_export_plugin_description_file)\nendfunction()\n",
        "generate_parameter_library": "function(generate_parameter_library name)\n  add_library(${name} INTERFACE)\n"
        f'  target_include_directories(${{name}} INTERFACE "{ROOT}/ros2/stubs")\nendfunction()\n',
        "moveit_msgs": "set(moveit_msgs_TARGETS moveit_msgs::moveit_msgs__rosidl_generator_cpp)\n",
    }
    for name, of in targets.items():
        place = folder / "lib" / "cmake" / name
        place.mkdir(parents=True)
        text = functions.get(name, "")
        for target in of:
            text += f"add_library({name}::{target} INTERFACE IMPORTED)\n"
            text += f'target_include_directories({name}::{target} INTERFACE "{ROOT}/ros2/stubs")\n'
        (place / f"{name}Config.cmake").write_text(text)
    return folder


@pytest.fixture
def configured(tmp_path: Path) -> Path:
    """A folder in which CMake has prepared the build."""
    if shutil.which("cmake") is None or shutil.which("g++") is None or not EIGEN.is_dir():
        pytest.skip("building needs CMake, a compiler and Eigen: apt-get install cmake g++ libeigen3-dev")
    if library() is None:
        pytest.skip("there is no library: python -m poise.build")
    prefix, build, program = stand_ins(tmp_path / "ros"), tmp_path / "build", tmp_path / "poise"
    write_sdk(tmp_path / "sdk")
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m poise "$@"\n')
    program.chmod(0o755)
    words = [f"-DCMAKE_PREFIX_PATH={prefix};{tmp_path / 'sdk'}", f"-DPOISE_PROGRAM={program}"]
    words += [f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'install'}", "-Werror=dev"]
    done = subprocess.run(
        ["cmake", "-S", PACKAGE, "-B", build, *words], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return build


def test_cmake_finds_every_target_that_it_names(configured: Path) -> None:
    listed = subprocess.run(
        ["cmake", "--build", configured, "--target", "help"], capture_output=True, text=True, check=True
    ).stdout
    for target in ("poise_kinematics_moveit", "poise_kinematics_control", "poise_kinematics_host", "poise_panda"):
        assert target in listed


@pytest.mark.slow
def test_it_is_built_tested_and_installed(configured: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for words in (["--build", configured, "--parallel", "2"], ["--install", configured]):
        done = subprocess.run(["cmake", *words], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run(["ctest", "--output-on-failure"], cwd=configured, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "100% tests passed, 0 tests failed out of 1" in done.stdout
    install = configured.parent / "install"
    assert (install / "share/poise_kinematics/config/panda/arm.poise").is_file()
    assert (install / "share/poise_kinematics/launch/panda.launch.py").is_file()
    assert len([*(install / "lib").glob("libpoise_kinematics_*")]) == 2


def test_what_is_launched_reads_the_configuration_of_the_panda(monkeypatch: pytest.MonkeyPatch) -> None:
    """With stand-ins for the modules of ROS that note what they are asked for."""
    asked: dict[str, Any] = {"nodes": []}

    class Builder:
        def __init__(self, name: str) -> None:
            asked["robot"] = name

        def __getattr__(self, name: str) -> Any:
            def noted(**words: str) -> Any:
                asked[name] = words
                return self

            return noted

        def to_moveit_configs(self) -> Any:
            names = ("robot_description", "robot_description_semantic", "robot_description_kinematics")
            return types.SimpleNamespace(to_dict=dict, **{name: {name: 1} for name in names})

    def module(name: str, **members: Any) -> None:
        made = types.ModuleType(name)
        vars(made).update(members)
        monkeypatch.setitem(sys.modules, name, made)

    def node(**words: Any) -> str:
        asked["nodes"].append(words)
        return str(words["executable"])

    module("ament_index_python")
    module("ament_index_python.packages", get_package_share_directory=lambda name: str(PACKAGE.parent / name))
    module("launch", LaunchDescription=list)
    module("launch_ros")
    module("launch_ros.actions", Node=node)
    module("moveit_configs_utils", MoveItConfigsBuilder=Builder)
    spec = importlib.util.spec_from_file_location("panda_launch", PACKAGE / "launch" / "panda.launch.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    started = made.generate_launch_description()
    assert started == ["static_transform_publisher", "robot_state_publisher", "move_group", "rviz2"]
    assert asked["robot"] == "moveit_resources_panda"
    read = yaml.safe_load(Path(asked["robot_description_kinematics"]["file_path"]).read_text())
    assert read["panda_arm"]["kinematics_solver"] == "poise_kinematics/PoisePlugin"
    plugins = (PACKAGE / "poise_kinematics_moveit.xml").read_text()
    assert f'name="{read["panda_arm"]["kinematics_solver"]}"' in plugins
