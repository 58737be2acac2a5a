"""The joints of a URDF by the names of what they join: one tree, in Pinocchio's order, and what can mimic."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import NamedTuple, Never

from gdalembert.errors import quoted

Refuse = Callable[[str | None, str], Never]
"""Raises with where and why."""

MAX_DEPTH = 1000
"""Longest chain of joints. The C++ parser recurses: about 2 kB of stack per joint, so 2 MB of the usual 8 MB."""


class UrdfJoint(NamedTuple):
    """A joint by names: its own, what messages call it, its type, the links that it joins, the joint that it mimics.

    The coordinate of one that mimics is ``multiplier`` · that of the other + ``offset``.
    """

    name: str
    element: str
    type: str
    parent: str
    child: str
    mimics: str | None = None
    multiplier: float = 1.0
    offset: float = 0.0


def depth_first(links: list[str], joints: list[UrdfJoint], refuse: Refuse) -> list[UrdfJoint]:
    """The joints in the order in which Pinocchio visits them; refuses what is not one tree."""
    above: dict[str, UrdfJoint] = {}
    below: dict[str, list[UrdfJoint]] = {link: [] for link in links}
    for joint in sorted(joints, key=lambda joint: joint.name, reverse=True):  # a stack gives the first name first
        for tag, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in below:
                refuse(joint.element, f"its {tag} link {quoted(link)} does not exist{_near(link, links)}")
        if joint.child in above:
            pair = f"{quoted(joint.name)} and {quoted(above[joint.child].name)}"
            refuse(f"link {quoted(joint.child)}", f"is the child of two joints, {pair}; a URDF is a tree")
        above[joint.child] = joint
        below[joint.parent].append(joint)
    roots = [link for link in links if link not in above]
    if len(roots) > 1:
        refuse(None, f"has {len(roots)} root links ({_some(roots)}); join all but one to a parent")
    order: list[UrdfJoint] = []
    stack = [(joint, 1) for root in roots for joint in below[root]]
    while stack:
        joint, depth = stack.pop()
        if depth > MAX_DEPTH:
            refuse(joint.element, f"is more than {MAX_DEPTH} joints from the root; the C++ parser could crash")
        order.append(joint)
        stack += [(child, depth + 1) for child in below[joint.child]]
    reached = {joint.child for joint in order}.union(roots)
    if loose := [link for link in links if link not in reached]:
        refuse(None, f"has a loop of links ({_some(loose)}) without a root; a URDF is a tree")
    return order


def compose_mimic_joints(joints: Sequence[UrdfJoint], refuse: Refuse) -> list[UrdfJoint]:
    """The same joints; one that mimics a joint that mimics a third one, which Pinocchio cannot, mimics that."""
    by_name = {joint.name: joint for joint in joints}
    composed = []
    for joint in joints:
        mimics, multiplier, offset = joint.mimics, joint.multiplier, joint.offset
        before = {joint.name}
        while mimics != joint.name and (other := by_name.get(mimics or "")) is not None and other.mimics is not None:
            if other.name in before or other.mimics == joint.name:
                refuse(joint.element, f"mimics {quoted(joint.mimics)} in a circle; let one of its joints mimic none")
            before.add(other.name)
            mimics, multiplier, offset = other.mimics, multiplier * other.multiplier, multiplier * other.offset + offset
        composed.append(joint._replace(mimics=mimics, multiplier=multiplier, offset=offset))
    return composed


def mimicked_first(order: Sequence[UrdfJoint]) -> list[UrdfJoint]:
    """The joints, depth first, with the branch of a joint that is mimicked before those of the joints that mimic it.

    Other siblings stay in the order of their names, and so do branches that would each have to come first.
    """
    joints, above = {joint.name: joint for joint in order}, {joint.child: joint for joint in order}
    below: dict[str, list[str]] = {}
    paths: dict[str, list[str]] = {}
    for joint in order:
        below.setdefault(joint.parent, []).append(joint.name)
        paths[joint.name] = [*(paths[above[joint.parent].name] if joint.parent in above else ()), joint.name]
    before: dict[str, set[str]] = {joint.name: set() for joint in order}
    for joint in order:
        if joint.mimics in joints:
            pairs = zip(paths[joint.name], paths[joint.mimics], strict=False)
            later, earlier = next((pair for pair in pairs if pair[0] != pair[1]), (None, None))
            if later is not None and earlier is not None:
                before[later].add(earlier)
    ordered: list[UrdfJoint] = []
    root = next((joint.parent for joint in order), "")
    stack = [below.get(root, [])[:]]
    while stack:
        if not (siblings := stack[-1]):
            stack.pop()
            continue
        name = next((name for name in siblings if not before[name].intersection(siblings)), siblings[0])
        siblings.remove(name)
        ordered.append(joints[name])
        stack.append(below.get(joints[name].child, [])[:])
    return ordered


def check_mimic_joints(order: Sequence[UrdfJoint], refuse: Refuse) -> None:
    """Refuse what Pinocchio cannot mimic; a planar or floating joint it would set free without a word."""
    joints = {joint.name: joint for joint in order}
    seen: set[str] = set()
    for joint in order:
        seen.add(joint.name)
        if joint.mimics is None:
            continue
        relation = f"mimics {quoted(joint.mimics)}, which"
        other = joints.get(joint.mimics)
        if other is None:
            refuse(joint.element, f"{relation} does not exist{_near(joint.mimics, list(joints))}")
        if other is joint:
            refuse(joint.element, "mimics itself; name another joint")
        types = {joint.type, other.type}
        if types != {"continuous"} and not types <= {"revolute", "prismatic"}:
            hint = "Pinocchio can mimic revolute and prismatic joints by each other, and continuous by continuous"
            refuse(joint.element, f"is {joint.type} and {relation} is {other.type}; {hint}")
        if other.name not in seen:
            hint = f"let {quoted(other.name)} mimic {quoted(joint.name)} in its place, or load with mimic=False"
            refuse(joint.element, f"{relation} Pinocchio visits later (depth first); {hint}")


def _near(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"; nearest: {_some(near)}" if near else ""


def _some(names: list[str]) -> str:
    shown = ", ".join(map(quoted, names[:4]))
    return shown if len(names) <= 4 else f"{shown}, …"
