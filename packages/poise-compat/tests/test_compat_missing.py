"""Faces that stand on another package say which extra brings it."""

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["mujoco"] = sys.modules["pinocchio"] = None  # as if they were not installed
from importlib import import_module
from poise import MissingExtra
for name in ("mink", "mink.lie", "pink", "pink.tasks"):
    try:
        import_module(f"poise_compat.{name}")
    except MissingExtra as error:
        print(error)
"""


def test_a_face_says_what_it_stands_on_and_what_brings_it() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT], check=True, timeout=60, capture_output=True, text=True)
    assert run.stdout.splitlines() == [
        *['poise_compat.mink needs mujoco: pip install "poise[mjcf]"'] * 2,
        *['poise_compat.pink needs pinocchio: pip install "poise[pink]"'] * 2,
    ]
