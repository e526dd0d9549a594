"""`poise retarget`: the motion of a skeleton, carried to a robot."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

import poise as pz
from poise import InvalidValue
from poise.extending import Answer, Base, Writes, command

if TYPE_CHECKING:
    from poise_motion.retarget import Retargeted

_MOTIONS = (".npz", ".csv", ".bvh", ".glb", ".gltf", ".pkl")


@command
class Retarget(Writes):
    """Let a robot do what the skeleton of a motion does: its feet stand where they come down, its limits hold.

    Prints which joint became which frame, and how well the robot follows.  Exit code 0 when the motion was carried
    over, however far the robot had to be from it.
    """

    motion: Positional[Path]
    """A motion with a skeleton: .bvh, .glb, .gltf, .vrm, .fbx, .usd or .amc; a body of SMPL, SMPL-H or SMPL-X: .npz or
    .pkl."""
    robot: Positional[str]
    """A known name (g1, talos ...) or a file."""
    out: Annotated[Path | None, arg(aliases=["-o"])] = None
    """File for the robot's motion: .npz, .csv, .bvh, .glb or .gltf, or .pkl with --format asap."""
    format: Literal["beyondmimic", "mjlab", "holosoma", "asap"] | None = None
    """What the file is for: a program that trains policies on it, which wants joints, bodies and velocities, 50 frames
    a second."""
    map: Annotated[Path | None, arg(metavar="FILE")] = None
    """Which joint is which frame, a .toml; left out, it is found."""
    save_map: Annotated[Path | None, arg(metavar="FILE")] = None
    """Write the map that was used as a .toml, to be edited and given to --map."""
    report: Annotated[Path | None, arg(metavar="FILE")] = None
    """Write the report: the numbers as .json, or a figure over time as .png, .svg or .pdf."""
    fps: float | None = None
    """Frames a second of the robot's motion; left out, as many as the source has."""
    smooth: float = 0.0
    """Follow the motion once more, averaged over so many seconds."""
    stance: Literal["hard", "within", "soft"] = "within"
    """How firmly feet stand: nailed; giving by a centimetre and 15 degrees before the body is bent; or as any part."""
    ground: Annotated[Path | None, arg(metavar="FILE")] = None
    """What the body climbs and walks on, where the source has it: a scene of which nothing moves, such as a .urdf."""
    speed: float = 1.0
    """Share of the robot's velocity limits that it may use."""
    acceleration: float | None = None
    """Largest acceleration of the joints [rad/s^2 or m/s^2]."""
    unit: float | None = None
    """Metres that one unit of length of a BVH is; left out, the skeleton's size tells."""
    body_model: Annotated[Path | None, arg(metavar="FILE")] = None
    """The .npz or .pkl of the model of an SMPL body, which says where its joints are; left out, a person of average
    proportions stands in."""
    up: Literal["y", "z"] | None = None
    """The axis that is up in the file; left out, the motion tells, and what is found is said."""
    base: Base | None = None
    """How the robot stands in the world; left out, one from a file floats, as one that walks must."""
    view: bool = False
    """Show both in the browser: map and contacts to be edited and carried again, files."""
    screenshot: Path | None = None
    """With --view: write one .png of the page and end; needs playwright and chromium."""
    host: str = "127.0.0.1"
    """With --view, where to serve; another host opens the page to others, who need no password."""
    port: int = 8080
    """With --view, where to serve; the next one that is free if it is taken."""

    def run(self) -> Answer:
        """Load, carry over and write."""
        from poise.extending import PICTURES, TEXTBOOK, is_table, refuse_file, say
        from poise_motion.anatomy.contact_schedule import GIVING

        read = [self.motion, Path(self.robot), *(file for file in (self.body_model, self.ground) if file is not None)]
        refuse_file(self.out, _MOTIONS, "a motion goes", force=self.force, read=read)
        refuse_file(self.report, (".json", *PICTURES), "a report goes", force=self.force)
        refuse_file(self.screenshot, (".png",), "a screenshot goes", force=self.force)
        if self.format is not None and self.out is None:
            raise InvalidValue("needs", "--format says how --out is written: add -o")
        wanted = {None: None, "asap": ".pkl"}.get(self.format, ".npz")
        if self.out is not None and self.out.suffix.lower() != (wanted or self.out.suffix.lower()):
            raise InvalidValue("wrong-format", f"--out must end in {wanted} for --format {self.format}, got {self.out}")
        if self.out is not None and self.out.suffix.lower() == ".pkl" and self.format is None:
            raise InvalidValue("needs", "a .pkl needs --format asap; without one it is a motion of poise, .npz")
        if self.screenshot is not None and not self.view:
            raise InvalidValue("needs", "--screenshot is a picture of the page: add --view")
        refuse_file(self.save_map, (".toml",), "a map goes", force=self.force)
        if is_table(self.motion):
            raise InvalidValue(
                "wrong-format", f"{self.motion} holds numbers by name, and no skeleton: give a BVH or glTF file"
            )
        motion = pz.load_motion(self.motion, unit=self.unit, up=self.up, body_model=self.body_model)
        robot = pz.load(self.robot, base=self.base or ("fixed" if self.robot in TEXTBOOK else "floating"))
        body = pz.BodyMap.found(motion, robot) if self.map is None else pz.BodyMap.load(self.map, motion, robot)
        limits = [] if self.acceleration is None else [_accelerating(robot, self.acceleration)]
        done = pz.retarget(
            motion,
            robot,
            body=body,
            fps=self.fps,
            smooth=self.smooth,
            stance=GIVING if self.stance == "within" else self.stance,
            ground=None if self.ground is None else pz.load(self.ground),
            speed=self.speed,
            limits=limits,
        )
        written = []
        if self.save_map is not None:
            body.save(self.save_map)
            written.append(self.save_map)
        if self.out is not None:
            done.motion.save(self.out, format=self.format)
            written.append(self.out)
        if self.report is not None:
            done.report.save(self.report)
            written.append(self.report)
        if self.view:
            self._show(done)
        if self.screenshot is not None:
            written.append(self.screenshot)
        lines = [f"{body}\n\n{done}", *motion.notes, *(f"written: {file}" for file in written)]
        return Answer(
            facts=done.report.to_dict(),
            show=lambda: say("\n".join(lines)),
            explanation=f"{self.motion} was carried to {robot.name}, {len(done.motion.times)} frames within its "
            "limits; the report says how far each frame was from where the scaled body had it [m], and what skates, "
            "sinks in or is at a limit.",
        )

    def _show(self, done: "Retargeted") -> None:
        """The page until Ctrl-C, or a picture of it."""
        from poise.pages import screenshot
        from poise_motion.carry.carrying import Carrying
        from poise_motion.carry.page import CarryingPage

        with CarryingPage([Carrying(done)], host=self.host, port=self.port) as page:
            if self.screenshot is None:
                page.serve(f"{self.motion} on {self.robot} is shown")
            else:
                screenshot(page.server.viser, page.url, self.screenshot)


def _accelerating(robot: "pz.Model", most: float) -> "pz.AccelerationLimit":
    """The limit for the joints; a base that floats has none."""
    return pz.AccelerationLimit({joint.name: most for joint in robot.joints if joint.nq == 1})
