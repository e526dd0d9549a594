"""Files of MCAP, as MCAP's own reader has them."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz

reader: Any = pytest.importorskip("mcap.reader")
from poise_bridges.mcap import McapWriter  # noqa: E402

PAGE = Path(__file__).parents[3] / "docs" / "mcap.md"
ARM = pz.load("panda")


def messages(file: Path) -> list[tuple[str, str, int, dict[str, Any]]]:
    """Topic, name of the schema, time and content of each."""
    with file.open("rb") as stream:
        found = list(reader.make_reader(stream, validate_crcs=True).iter_messages())
    return [(channel.topic, schema.name, each.log_time, json.loads(each.data)) for schema, channel, each in found]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    file, rows, times = tmp_path / "run.mcap", ARM.sample(3, seed=1), [0.0, 0.1, 1.25]
    with McapWriter(file, ARM) as out:
        for t, q in zip(times, rows, strict=True):
            out.write(t, q)
    found = messages(file)
    assert [(topic, schema) for topic, schema, *_ in found] == [
        ("/joint_states", "poise.JointStates"), ("/tf", "foxglove.FrameTransforms"),
    ] * 3  # fmt: skip
    assert [at for *_, at, _ in found] == [0, 0, 10**8, 10**8, 1_250_000_000, 1_250_000_000]
    for (*_, joints), (*_, frames), q in zip(found[::2], found[1::2], rows, strict=True):
        assert joints == {"name": list(ARM.coordinates), "position": q.tolist()}
        assert [each["child_frame_id"] for each in frames["transforms"]] == list(ARM.links)
        assert {each["parent_frame_id"] for each in frames["transforms"]} == {"world"}
        for each in frames["transforms"]:
            pose = ARM.pose(each["child_frame_id"], q)
            assert np.allclose([each["translation"][k] for k in "xyz"], pose.xyz, rtol=0.0, atol=1e-12)
            assert np.allclose([each["rotation"][k] for k in "wxyz"], pose.wxyz, rtol=0.0, atol=1e-12)
    assert found[-1][-1]["transforms"][0]["timestamp"] == {"sec": 1, "nsec": 250_000_000}


def test_frames_may_be_named(tmp_path: Path) -> None:
    file = tmp_path / "run.mcap"
    with McapWriter(file, ARM, frames=["panda_hand"]) as out:
        out.write(0.0, ARM.home)
    (frames,) = (content for topic, *_, content in messages(file) if topic == "/tf")
    assert [each["child_frame_id"] for each in frames["transforms"]] == ["panda_hand"]


def test_what_is_not_allowed_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.mcap"
    with pytest.raises(pz.FrameNotFound, match="panda_hand"):
        McapWriter(file, ARM, frames=["panda_hnd"])
    assert not file.exists()
    with refused("not-a-sequence", "frames is 'panda_hand'"):
        McapWriter(file, ARM, frames="panda_hand")
    with McapWriter(file, ARM) as out:
        with refused("negative", "time"):
            out.write(-1.0, ARM.home)
        with refused("out-of-range", "time is 1e+30"):
            out.write(1e30, ARM.home)
        for q in (ARM.home[:-1], [ARM.home, ARM.home]):
            with pytest.raises(pz.ShapeError):
                out.write(0.0, q)
    assert messages(file) == []


def test_the_program_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)[0]
    exec(compile(code, str(PAGE), "exec"), {})
    assert len(messages(tmp_path / "run.mcap")) > 2
