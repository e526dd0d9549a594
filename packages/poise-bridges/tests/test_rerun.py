"""Files of Rerun, as Rerun's own reader has them."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz

chunk: Any = pytest.importorskip("rerun.chunk")
from poise_bridges.rerun import RerunWriter  # noqa: E402

PAGE = Path(__file__).parents[3] / "docs" / "mcap.md"
ARM = pz.load("panda")


def rows(file: Path) -> dict[str, list[tuple[int, dict[str, list[float]]]]]:
    """Of each entity the times [ns] and what was logged then, in the order of time."""
    found: dict[str, list[tuple[int, dict[str, list[float]]]]] = {}
    for each in chunk.RrdReader(file).stream().to_chunks():
        if "time" in each.timeline_names:
            for row in each.to_record_batch().to_pylist():
                values = {name: np.ravel(row[name]).tolist() for name in row if ":" in name}
                found.setdefault(each.entity_path, []).append((row["time"] // np.timedelta64(1, "ns"), values))
    return {path: sorted(some, key=lambda one: one[0]) for path, some in found.items()}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    file, written, times = tmp_path / "run.rrd", ARM.sample(3, seed=1), [0.0, 0.1, 1.25]
    with RerunWriter(file, ARM) as out:
        for t, q in zip(times, written, strict=True):
            out.write(t, q)
    found = rows(file)
    assert found.keys() == {f"/joint_states/{x}" for x in ARM.coordinates} | {f"/tf/{x}" for x in ARM.links}
    stamps = [0, 10**8, 1_250_000_000]
    for i, name in enumerate(ARM.coordinates):
        logged = found[f"/joint_states/{name}"]
        assert [at for at, _ in logged] == stamps
        assert [values["Scalars:scalars"] for _, values in logged] == [[q[i]] for q in written]
    for frame in ARM.links:
        for (at, values), stamp, q in zip(found[f"/tf/{frame}"], stamps, written, strict=True):
            pose = ARM.pose(frame, q)
            assert at == stamp
            assert np.allclose(values["Transform3D:translation"], pose.xyz, rtol=0.0, atol=1e-6)
            assert np.allclose(values["Transform3D:quaternion"], pose.rotation.xyzw, rtol=0.0, atol=1e-6)


def test_frames_may_be_named_as_one_likes(tmp_path: Path) -> None:
    file, arm = tmp_path / "run.rrd", ARM.with_frame("tool tip/1", link="panda_hand")
    with RerunWriter(file, arm, frames=["tool tip/1"]) as out:
        out.write(0.0, arm.home)
    assert [path for path in rows(file) if path.startswith("/tf")] == ["/tf/tool\\ tip\\/1"]


def test_what_is_not_allowed_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.rrd"
    with pytest.raises(pz.FrameNotFound, match="panda_hand"):
        RerunWriter(file, ARM, frames=["panda_hnd"])
    assert not file.exists()
    with refused("not-a-sequence", "frames is 'panda_hand'"):
        RerunWriter(file, ARM, frames="panda_hand")
    with pytest.raises(OSError, match="cannot be written"):
        RerunWriter(tmp_path / "nowhere" / "run.rrd", ARM)
    with RerunWriter(file, ARM) as out:
        with refused("negative", "time"):
            out.write(-1.0, ARM.home)
        with refused("out-of-range", "time is 1e+30"):
            out.write(1e30, ARM.home)
        for q in (ARM.home[:-1], [ARM.home, ARM.home]):
            with pytest.raises(pz.ShapeError):
                out.write(0.0, q)
    assert rows(file) == {}


def test_the_program_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    first = first.replace("from poise_bridges.mcap import McapWriter\n", "")
    exec(compile(first[: first.index("with McapWriter")] + second, str(PAGE), "exec"), {})
    assert len(rows(tmp_path / "run.rrd")) == len(ARM.coordinates) + len(ARM.links)
