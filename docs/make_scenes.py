"""The moving pictures of the start page, and the same scenes as pages that turn under the mouse.

python docs/make_scenes.py [plans] [soft_arm] [ball]    needs the extras viewer and distances, example-robot-data and
                                                        a browser (chromium)

The films are ``docs/images/NAME.webp``, the pages ``docs/_static/NAME.html``; that of the ball would be of meshes, and
is none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert.viewer import Viewer

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from examples import flexible_rest_to_rest as plans  # noqa: E402  # beside this folder
from examples import panda_past_ball  # noqa: E402

APART = 1.3
"""Distance of the two arms [m]."""
FILM = {"fps": 20.0, "width": 640, "height": 400}
LENGTH, WIDE, NARROW = 0.6, 0.05, 0.014
"""Of the soft arm, and its diameters [m]."""
TENSION, LET_GO = 9.0, 4.5
"""The largest [N], and the time at which it is gone [s]."""
DISCS, OFFSET = 6, 0.35
"""Frames along the soft arm that its tendons run through, and their distance from its axis over its diameter."""
Motion = tuple[gd.Dynamics | pin.Model, np.ndarray, np.ndarray, dict[str, tuple[float, float, float]], dict[str, Any]]
"""A robot, times [s], configurations, labels with their places [m], and arguments of the viewer."""


def two_plans() -> Motion:
    """The arm of examples/flexible_rest_to_rest.py twice, under the torques of both plans and the same servo."""
    model = gd.load_urdf("two_link_flexible")
    arm = plans.build(model)
    motions = {
        name: plans.follow(plans.problem(dyn, model, 200).solve(), arm, servo=True, after=1.75)
        for name, dyn in (
            ("rigid", gd.NewtonEuler(model)),
            ("flexible", plans.build(model, link1=gd.modes.craig_bampton(1), link2=gd.modes.clamped_free(2))),
        )
    }
    links = {}
    for side in motions:
        beams = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
        links |= {f"{side}_{name}": gd.FlexibleLink(beam, modal_damping=0.01) for name, beam in beams.items()}
    both = gd.FlexibleArm(gd.load_urdf(beside(tuple(motions))), links)
    order = [
        k * arm.tree.nq + arm.layout.index(name.replace(f"{side}_", ""))
        for name in both.layout
        for k, side in enumerate(motions)
        if name.startswith(f"{side}_")
    ]
    q = np.hstack([motion.simulation.q for motion in motions.values()])[:, order]
    labels = {
        f"plan for a {side} arm: {1000 * plans.residual(motions[side]):.{digits}f} mm of vibration": (0.15, y, 0.0)
        for side, digits, y in (("rigid", 0, -0.12), ("flexible", 1, APART - 0.12))
    }
    return both, motions["rigid"].simulation.t, q, labels, {}


def beside(names: tuple[str, ...]) -> str:
    """The skeleton of the flexible arm as often as there are names, side by side."""
    parts = []
    for k, name in enumerate(names):
        for link, length, mass in (("link1", 1.0, 0.6), ("link2", 0.8, 0.36)):
            inertia = mass * length**2 / 12
            parts.append(
                f'<link name="{name}_{link}"><inertial><origin xyz="{length / 2} 0 0"/><mass value="{mass}"/>'
                f'<inertia ixx="0" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            )
        for joint, parent, at in (("1", "base", f"0 {k * APART} 0"), ("2", f"{name}_link1", "1 0 0")):
            parts.append(
                f'<joint name="{name}_joint{joint}" type="revolute"><parent link="{parent}"/>'
                f'<child link="{name}_link{joint}"/><origin xyz="{at}"/><axis xyz="0 0 1"/>'
                '<limit lower="-3" upper="3" effort="20" velocity="8"/></joint>'
            )
        parts.append(
            f'<link name="{name}_tip"/><joint name="{name}_tip_joint" type="fixed"><parent link="{name}_link2"/>'
            f'<child link="{name}_tip"/><origin xyz="0.8 0 0"/></joint>'
        )
    return f'<robot name="both"><link name="base"/>{"".join(parts)}</robot>'


def soft_arm() -> Motion:
    """A tapered arm of silicone hangs from a ceiling; three tendons curl it, one after the other, then let it go."""

    def diameter(x: float) -> float:
        return WIDE + (NARROW - WIDE) * x / LENGTH

    places = LENGTH * np.arange(1, DISCS + 1) / DISCS
    discs = "".join(
        f'<link name="disc{k}"/><joint name="at{k}" type="fixed"><parent link="trunk"/><child link="disc{k}"/>'
        f'<origin xyz="{x} 0 0"/></joint>'
        for k, x in enumerate(places)
    )
    mass = 1100 * np.pi / 12 * LENGTH * (WIDE**2 + WIDE * NARROW + NARROW**2)
    model = gd.load_urdf(
        f"""<robot name="soft_arm"><link name="ceiling"/><link name="trunk"><inertial><origin xyz="0.2 0 0"/>
        <mass value="{mass}"/><inertia ixx="1e-4" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="turn" type="revolute"><parent link="ceiling"/><child link="trunk"/>
        <origin xyz="0 0 0" rpy="0 {np.pi / 2} 0"/><axis xyz="1 0 0"/>
        <limit lower="-3" upper="3" effort="9" velocity="9"/></joint>{discs}</robot>"""
    )
    beam = gd.Beam.round(LENGTH, diameter, density=1100, youngs_modulus=4e5, poisson_ratio=0.45)
    rod = gd.CosseratRod(beam, root=np.eye(4), rayleigh=(0.0, 0.05))
    tendons = {}
    for k in range(3):
        angle = 2 * np.pi * k / 3
        aside = OFFSET * np.array([0, np.cos(angle), np.sin(angle)])
        tendons[f"tendon{k}"] = gd.Tendon(
            [("universe", (*(WIDE * aside[[2, 1]]), 0.0))]
            + [(f"disc{i}", tuple(diameter(x) * aside)) for i, x in enumerate(places)]
        )
    arm = gd.FlexibleArm(model, {"trunk": rod}, springs={"turn": (5.0, 0.0)}, actuation=tendons)
    t, x = ca.MX.sym("t"), ca.MX.sym("x", 2 * arm.tree.nv)
    size = TENSION * ca.fmin(t, 1) * ca.fmin(1, ca.fmax(0, (LET_GO - t) / 0.15))
    pulls = [size * ca.fmax(0, ca.cos(2 * np.pi * (t / 3.0 - k / 3))) for k in range(3)]
    law = ca.Function("law", [t, x], [ca.vertcat(*pulls)])
    run = gd.simulate(arm, np.zeros(2 * arm.tree.nv), np.linspace(0, 6.0, 241), law, reltol=1e-5, abstol=1e-7)
    return arm, run.t, run.q, {}, {}


def ball() -> Motion:
    """The loop of examples/panda_past_ball.py, with the meshes of the Panda, without its hand."""
    share = Path(str(metadata.distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    path = share / "example-robot-data/robots/panda_description/urdf/panda.urdf"
    whole = gd.load_urdf(path, check="off")
    meshes = pin.buildGeomFromUrdf(whole, str(path), pin.GeometryType.VISUAL, package_dirs=[str(share)])
    fingers = [k for k, name in enumerate(whole.names) if "finger" in name]
    model, [visual] = pin.buildReducedModel(whole, [meshes], fingers, pin.neutral(whole))
    for name in [solid.name for solid in visual.geometryObjects if "hand" in solid.name or "finger" in solid.name]:
        visual.removeGeometryObject(name)
    capsules = panda_past_ball.build()[1]
    place = gd.Kinematics(gd.load_urdf("panda7")).frame_placement("flange")(panda_past_ball.HOME).full()[:3, 3]
    loop = panda_past_ball.run(1.8)
    drawn = {
        "visual_model": visual,
        "shapes": panda_past_ball.distances(model, capsules),
        "obstacles": lambda t: panda_past_ball.ball(place, np.array([t]))[:, 0],
    }
    return model, panda_past_ball.TICK * np.arange(len(loop.q)), loop.q, {}, drawn


SCENES: dict[str, tuple[Callable[[], Motion], float]] = {
    "plans": (two_plans, 0.75),
    "soft_arm": (soft_arm, 1.0),
    "ball": (ball, 0.5),
}
"""What makes each motion, and how fast it is shown."""
CAMERAS = {"plans": ((0.92, 0.85, 0.0), (0.92, 0.2, 3.4)), "ball": ((0.2, 0.05, 0.5), (1.45, -0.3, 0.8))}
"""Where the camera looks, and where it stands [m]; other scenes have the viewer's."""


def main(names: list[str]) -> None:
    for name in names or SCENES:
        make, speed = SCENES[name]
        robot, t, q, labels, drawn = make()
        with Viewer(robot, port=0, q=q[len(q) // 2], **drawn) as viewer:
            if name in CAMERAS:
                viewer.server.initial_camera.look_at, viewer.server.initial_camera.position = CAMERAS[name]
            for k, (text, place) in enumerate(labels.items()):
                viewer.server.scene.add_label(f"/label{k}", text, position=place, anchor="top-left")
            page, film = HERE / "_static" / f"{name}.html", HERE / "images" / f"{name}.webp"
            for path in (film,) if drawn else (page, film):
                viewer.record((t, q), path, speed=speed, **FILM)
                print(path.relative_to(HERE), path.stat().st_size)


if __name__ == "__main__":
    main(sys.argv[1:])
