"""Flexible arms that the tests of the validator share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert import modes

PLANAR = gd.load_urdf("two_link_flexible")
LIGHT = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
BY_KINEMATICS = {"exact": gd.FlexibleArm, "first_order": gd.FirstOrderArm}
"""Arms by their kinematics."""
FLEXIBLE_JOINT = {"joint2": gd.FlexibleJoint(stiffness=50.0, rotor_inertia=0.02, damping=0.3)}


def planar(of: type[gd.FlexibleArm] = gd.FlexibleArm, *, exact: bool = True, **options: Any) -> gd.FlexibleArm:
    links = {
        name: gd.FlexibleLink(beam, bending_y=modes.hermite(), foreshortening=exact, rayleigh=(0.0, 1e-3))
        for name, beam in LIGHT.items()
    }
    return (of if exact else gd.FirstOrderArm)(PLANAR, links, **options)


def robot(*joints: tuple[str, str], root_joint: Any = None) -> pin.Model:
    """Joints of a kind, each on a link ("base", "l0", …), with nothing aligned; a tool is fixed to the last link."""
    axes = ("0 0 1", "0 1 0", "0.6 0 0.8", "0.36 0.48 0.8")
    text = '<robot name="several"><link name="base"/>'
    if root_joint is not None:
        text = text.replace('"base"/>', '"base"><inertial><mass value="3"/>' + INERTIA + "</inertial></link>")
    for i, (kind, parent) in enumerate(joints):
        away = "0 0 0.1" if parent == "base" else "0.8 0 0"
        text += (
            f'<link name="l{i}">'
            f'<inertial><origin xyz="0.4 0.02 0.03"/><mass value="{1 + i}"/>{INERTIA}</inertial></link>'
            f'<joint name="j{i}" type="{kind}"><parent link="{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{away}" rpy="0.3 0.2 {0.1 * i}"/><axis xyz="{axes[i]}"/>'
            f'<dynamics armature="0.{i + 1}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        )
    text += (
        f'<link name="tool"><inertial><origin xyz="0.1 0 0"/><mass value="0.5"/>{INERTIA}</inertial></link>'
        f'<joint name="flange" type="fixed"><parent link="l{len(joints) - 1}"/><child link="tool"/>'
        '<origin xyz="0.7 0.1 0" rpy="0.1 0.2 0.3"/></joint></robot>'
    )
    return gd.load_urdf(text, root_joint=root_joint)


INERTIA = '<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.2" iyz="0" izz="0.21"/>'
STIFF = gd.Beam(0.8, 1.5, EI_y=3000.0, EI_z=5000.0, EA=1e6, GJ=2000.0, section_inertia=(1e-3, 2e-3))


def bending(**options: Any) -> gd.FlexibleLink:
    return gd.FlexibleLink(STIFF, **({"bending_y": modes.hermite(), "bending_z": modes.hermite()} | options))


def twisting() -> gd.FlexibleLink:
    hub = pin.Inertia(0.3, np.array([0.1, 0.2, 0.3]), 0.1 * np.eye(3))
    return bending(bending_z=None, torsion=modes.sine(1), root=np.eye(4), hub=hub, modal_damping=0.02)


@cache
def chain() -> tuple[gd.FlexibleArm, pin.Model]:
    model = robot(("continuous", "base"), ("revolute", "l0"), ("prismatic", "l1"))
    links = {"l0": bending(), "l2": twisting()}
    # the joint without a rotor_inertia hands its armature over
    joints = {"j1": gd.FlexibleJoint(1e3, damping=1.0), "j2": gd.FlexibleJoint(1e4, rotor_inertia=2.0)}
    return gd.FlexibleArm(model, links, joints, clean=0), model


def tree() -> tuple[gd.FlexibleArm, pin.Model]:
    model = robot(("revolute", "base"), ("revolute", "l0"), ("prismatic", "l0"), ("continuous", "l1"))
    along = np.eye(4)
    links = {"l0": bending(root=along, children={"j1": "tip", "j2": 0.5}), "l1": bending(bending_y=None)}
    return gd.FlexibleArm(model, links, springs={"j0": (30.0, 0.4), "j2": (10.0, 0.1)}), model


def flying() -> tuple[gd.FlexibleArm, pin.Model]:
    model = robot(("revolute", "base"), ("revolute", "l0"), root_joint=pin.JointModelFreeFlyer())
    return gd.FlexibleArm(model, {"l0": bending()}), model


def rigid() -> tuple[gd.FlexibleArm, pin.Model]:
    model = gd.load_urdf("panda7")
    return gd.FlexibleArm(model), model


ARMS: dict[str, Callable[[], tuple[gd.FlexibleArm, pin.Model]]] = {
    "planar": lambda: (planar(), PLANAR),
    "planar, flexible joint": lambda: (planar(joints=FLEXIBLE_JOINT), PLANAR),
    "first order": lambda: (planar(exact=False), PLANAR),
    "first order, flexible joint": lambda: (planar(exact=False, joints=FLEXIBLE_JOINT), PLANAR),
    "chain": chain,
    "tree": tree,
    "free-flyer": flying,
    "rigid": rigid,
}


def free_arm() -> gd.FlexibleArm:
    """Two flexible links on a base that nothing holds."""
    model = robot(("revolute", "base"), ("revolute", "l0"), root_joint=pin.JointModelFreeFlyer())
    return gd.FlexibleArm(model, {"l0": bending(), "l1": twisting()}, clean=0)
