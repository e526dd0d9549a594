"""The links of ikpy that a URDF describes."""

import os
from collections.abc import Sequence

from poise import JointNotFound, ModelError, load
from poise.extending import one_of
from poise_compat.ikpy_links import URDFLink


def urdf_links(file: str | os.PathLike[str], elements: Sequence[str], first: str) -> list[URDFLink]:
    """The joints from the first of `elements` on: those that it names, link and joint in turn, then first children.

    Raises ModelError for a name that is not where the one before it leads, and for the file.
    """
    one_of("base_element_type", first, ("link", "joint"))
    model, wanted = load(file), list(elements)
    if not wanted:
        raise ValueError("base_elements is empty; name the link or the joint that the chain begins with")
    links: list[URDFLink] = []
    at = wanted.pop(0) if first == "link" else None
    if at is not None:
        model.frame(at)
    while True:
        joints = [j for j in model.joints if (at is None or j.parent == at) and (not wanted or j.name == wanted[0])]
        if not joints:
            if wanted:
                raise JointNotFound(wanted[0], [j.name for j in model.joints if j.parent == at], owner=f"link {at!r}")
            return links
        joint, at = joints[0], joints[0].child
        wanted = wanted[1:]
        if wanted and wanted.pop(0) != at:
            raise ModelError(f"base_elements lead from joint {joint.name!r} to another link than its own, {at!r}")
        slides, fixed = joint.kind.value == "prismatic", joint.kind.value == "fixed"
        links.append(
            URDFLink(
                joint.name, joint.origin.xyz, joint.origin.rotation.rpy(), joint_type=joint.kind.value,
                rotation=None if slides or fixed else joint.axis, translation=joint.axis if slides else None,
                bounds=(joint.lower[0], joint.upper[0]) if joint.lower else None,
            )
        )  # fmt: skip
