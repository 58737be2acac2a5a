"""A real arm with two flexible links: its gauges from the motion of its hubs, on windows that the fit did not see.

    python -m benchmarks.identification.quanser FOLDER [OTHER]

The folders hold windows of a Quanser 2-DOF serial flexible link, measured by the author of the public repository
basta/quanser-2-dof-serial-flexible-link (MIT), as CSV files with the columns ``t_s``, ``theta1_rad``, ``theta2_rad``,
``gauge1_rad`` and ``gauge2_rad``: encoders, and strain gauges without the low-pass filter of the rig. The data are not
part of this package. Some windows of FOLDER are fitted; of all others, those of OTHER if it is given, the gauges are
predicted from the encoders, each from the values and rates that its gauges have in the first 0.02 s. A line for each
window is the root mean square of the error in parts of the gauge's own [%], without its mean.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin

import gdalembert as gd
from gdalembert.identification import Record, filtered

STEEL = {"density": 7850.0, "youngs_modulus": 2.068427e11}
LENGTHS, CLAMPS = (0.202, 0.20185), (0.079, 0.0166)
"""Of the beams, and from the axes to their roots [m], by the manual, as all numbers here."""
SECTIONS = ((0.00127, 0.0762), (0.000889, 0.0381))
"""Thickness, which bends, and height [m]."""
MASSES = (1.578, 0.157)
"""At the end of link 1, with all that it carries, and the load at the end of link 2 [kg]."""
LOAD_SIDES = (0.0445, 0.0224)
TRAINED = ("lqg_05", "lqg_04", "lqg_02")
"""How the names of the windows to fit begin; the first three if there are none of these."""
CUTOFF = 30.0
"""Of the filter of the encoders [Hz]."""
FIRST_MODES = (1.83, 5.55)


def urdf() -> str:
    """The arm, its tip masses left out, since these are parameters."""

    def body(mass: float, x: float, inertia: float) -> str:
        tensor = f'ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"'
        return f'<inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/><inertia {tensor}/></inertial>'

    beams = [STEEL["density"] * s[0] * s[1] * length for s, length in zip(SECTIONS, LENGTHS, strict=True)]
    reach = [clamp + length for clamp, length in zip(CLAMPS, LENGTHS, strict=True)]
    load = MASSES[1] * sum(side**2 for side in LOAD_SIDES) / 12
    links = [
        f'<link name="link{k}">{body(m, clamp + length / 2, m * length**2 / 12)}</link>'
        for k, (m, clamp, length) in enumerate(zip(beams, CLAMPS, LENGTHS, strict=True), 1)
    ]
    limit = '<axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="10" velocity="10"/>'
    return f"""<robot name="serial flexible link"><link name="base"/>{links[0]}{links[1]}
<link name="motor">{body(1e-3, 0.0, 1e-3)}</link><link name="load">{body(1e-3, 0.0, load)}</link>
<joint name="joint1" type="revolute"><parent link="base"/><child link="link1"/>{limit}</joint>
<joint name="fixed motor" type="fixed"><parent link="link1"/><child link="motor"/><origin xyz="{reach[0]} 0 0"/></joint>
<joint name="joint2" type="revolute"><parent link="link1"/><child link="link2"/><origin xyz="{reach[0]} 0 0"/>{limit}
</joint><joint name="fixed load" type="fixed"><parent link="link2"/><child link="load"/><origin xyz="{reach[1]} 0 0"/>
</joint></robot>"""


def arm() -> gd.FlexibleArm:
    """Two static shapes for each link; damped by 4 ms of their stiffness."""
    model = pin.buildModelFromXML(urdf())
    model.gravity.linear = np.zeros(3)
    links = {}
    for k, (length, section, clamp) in enumerate(zip(LENGTHS, SECTIONS, CLAMPS, strict=True), 1):
        beam = gd.Beam.rectangle(length, *section, **STEEL)
        root = pin.SE3(np.eye(3), np.array([clamp, 0.0, 0.0]))
        links[f"link{k}"] = gd.FlexibleLink(beam, gd.modes.hermite(), None, root=root, rayleigh=(0.0, 0.004))
    return gd.FlexibleArm(model, links, parameters={"stiffness": True, "damping": True, "payload": ["motor", "load"]})


def record(path: Path) -> Record:
    """A window: the motion of the hubs, smoothed, and the gauges."""
    rows = np.genfromtxt(path, delimiter=",", names=True)
    t, hubs = rows["t_s"], np.column_stack([rows["theta1_rad"], rows["theta2_rad"]])
    smooth = filtered(t, hubs, cutoff=CUTOFF, trim=0.0)
    motion = {f"joint{k + 1}": np.column_stack([smooth.q[:, k], smooth.v[:, k], smooth.a[:, k]]) for k in range(2)}
    gauges = {"gauge 1": rows["gauge1_rad"], "gauge 2": rows["gauge2_rad"]}
    return Record(t, motion=motion, outputs=gauges, initial="measured", label=path.stem)
