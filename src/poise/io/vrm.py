"""VRM, characters in glTF: an extension says which node is which bone of a humanoid.

Its version 0 has a list of bones, version 1 an object of them, as has its animation, VRMA (VRM Consortium, "VRM
specification", "humanoid").  The first calls the thumb's bones by other words; they are left as they are.
"""

from poise.io.gltf_document import Document, Item


def bones_of(document: Document, nodes: int) -> dict[str, int]:
    """By bone, such as `leftUpperLeg`, the node that it is, of the `nodes` of a document; none if it is no VRM.

    Raises ModelError, with the path in the JSON, for a bone whose node is not there, and for a node that is two bones.
    """
    extensions = document.root.child("extensions")
    found: dict[str, tuple[int, Item]] = {}
    for name in ("VRMC_vrm", "VRMC_vrm_animation"):
        bones = extensions.child(name).child("humanoid").child("humanBones")
        for bone in bones.fields:
            item = bones.child(bone)
            found.setdefault(bone, (item.index("node", "nodes", nodes), item))
    for item in extensions.child("VRM").child("humanoid").children("humanBones"):
        if item.text("bone"):
            found.setdefault(item.text("bone"), (item.index("node", "nodes", nodes), item))
    owner: dict[int, str] = {}
    for bone, (node, item) in found.items():
        if node in owner:
            raise item.error(f"node {node} is {owner[node]!r} and {bone!r}", "node")
        owner[node] = bone
    return {bone: node for bone, (node, _) in found.items()}
