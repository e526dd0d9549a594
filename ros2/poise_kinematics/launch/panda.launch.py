"""MoveIt with a Panda whose arm poise solves, and RViz: ros2 launch poise_kinematics panda.launch.py."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch import LaunchDescription
from launch_ros.actions import Node
from moveit_configs_utils import MoveItConfigsBuilder


def generate_launch_description() -> LaunchDescription:
    """ROS calls this."""
    ours = Path(get_package_share_directory("poise_kinematics"))
    theirs = Path(get_package_share_directory("moveit_resources_panda_moveit_config"))
    config = (
        MoveItConfigsBuilder("moveit_resources_panda")
        .robot_description(file_path="config/panda.urdf.xacro")
        .robot_description_kinematics(file_path=str(ours / "config" / "panda" / "kinematics.yaml"))
        .trajectory_execution(file_path="config/gripper_moveit_controllers.yaml")
        .to_moveit_configs()
    )
    seen = [config.robot_description, config.robot_description_semantic, config.robot_description_kinematics]
    fixed = ["--frame-id", "world", "--child-frame-id", "panda_link0"]
    return LaunchDescription(
        [
            Node(package="tf2_ros", executable="static_transform_publisher", arguments=fixed),
            Node(package="robot_state_publisher", executable="robot_state_publisher", parameters=[seen[0]]),
            Node(package="moveit_ros_move_group", executable="move_group", parameters=[config.to_dict()]),
            Node(
                package="rviz2",
                executable="rviz2",
                arguments=["--display-config", str(theirs / "launch" / "moveit.rviz")],
                parameters=seen,
            ),
        ]
    )
