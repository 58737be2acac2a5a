"""A plastic rod on a shoulder: its shapes under weights on its tip, beside those of assumed modes, and a swing.

python examples/soft_rod.py
python examples/soft_rod.py --plot shapes.png    needs matplotlib
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert.flexible.centreline import centreline

LENGTH, DIAMETER = 0.5, 0.012
WEIGHTS = (0.0, 0.1, 0.3, 1.0)  # [N]

URDF = """
<robot name="soft">
  <link name="wall"/>
  <joint name="shoulder" type="revolute"><parent link="wall"/><child link="rod"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="10" velocity="10"/></joint>
  <link name="rod"><inertial><origin xyz="0.25 0 0"/><mass value="0.0622"/>
    <inertia ixx="1e-6" iyy="0.0013" izz="0.0013" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>
"""


def build(*, rod: bool = True) -> gd.FlexibleArm:
    """The robot with a Cosserat rod, or with a beam in four assumed modes, of a plastic with E = 0.1 GPa."""
    beam = gd.Beam.round(LENGTH, DIAMETER, density=1100, youngs_modulus=1e8)
    root = np.eye(4)
    root[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]  # y of the beam is up, z the axis of the shoulder
    if rod:
        link = gd.CosseratRod(beam, strains=("bending_y",), root=root, rayleigh=(0.0, 0.02))
        return gd.FlexibleArm(gd.load_urdf(URDF), {"rod": link})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own weight is too much for assumed modes, and the arm says so
        link = gd.FlexibleLink(beam, gd.modes.craig_bampton(2), root=root)
        return gd.FlexibleArm(gd.load_urdf(URDF), {"rod": link})


def shapes(arm: gd.FlexibleArm) -> list[np.ndarray]:
    """x and z of the centreline (2 × n) [m] under each weight, the shoulder held level."""
    line = centreline(arm, "rod", np.linspace(0, LENGTH, 41))
    q, found = np.zeros(arm.tree.nq), []
    for weight in WEIGHTS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of slopes beyond 0.2 rad
            load = [0, 0, -weight, 0, 0, 0]
            q = arm.static_deflection(q, "rod tip", load, reference=pin.LOCAL_WORLD_ALIGNED)
        found.append(line(q)[0].full()[[0, 2]])
    return found


def swing(arm: gd.FlexibleArm, duration: float) -> tuple[np.ndarray, np.ndarray, gd.Simulation]:
    """The rod held straight, and let go: the times, the height of the tip [m], and the simulation."""
    start = np.zeros(arm.tree.nq), np.zeros(arm.tree.nv)
    run = gd.simulate(arm, start, duration, np.zeros(arm.nu))
    tip = arm.tip_placement("rod").map(len(run.t))(run.q.T).full()
    return run.t, tip[2, 3::4], run


def plot(path: str, rod: list[np.ndarray], modes: list[np.ndarray]) -> None:
    """The shapes under each weight."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.subplots()
    for k, (weight, exact, assumed) in enumerate(zip(WEIGHTS, rod, modes, strict=True)):
        axes.plot(*exact, color=f"C{k}", linewidth=3, label=f"{weight:g} N")
        axes.plot(*assumed, color=f"C{k}", linestyle=":")
    axes.set(xlabel="x [m]", ylabel="z [m]", title="Cosserat rod, and (dotted) four assumed modes")
    axes.set_aspect("equal")
    axes.legend(title="weight on the tip")
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coarse", action="store_true", help="a tenth of a second in place of one")
    parser.add_argument("--plot", metavar="FILE", help="draw the shapes")
    given = parser.parse_args(arguments)

    arm = build()
    print("coordinates:", ", ".join(arm.layout))
    rod, modes = shapes(arm), shapes(build(rod=False))
    for weight, exact, assumed in zip(WEIGHTS, rod, modes, strict=True):
        apart = np.linalg.norm(exact[:, -1] - assumed[:, -1])
        x, z = exact[:, -1]
        print(f"{weight:3g} N: tip at ({x:.3f}, {z:.3f}) m; assumed modes are {1000 * apart:.0f} mm off")
    times, height, run = swing(arm, 0.1 if given.coarse else 1.0)
    print(f"let go, the tip falls to {height.min():.3f} m in {times[-1]:g} s")
    print(run)
    if given.plot:
        plot(given.plot, rod, modes)


if __name__ == "__main__":
    main()
