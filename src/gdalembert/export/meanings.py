"""Meanings of the letters in closed forms and code: how terms add up, and what each of them is.

Text is plain, for the heads of code, and LaTeX. Sums run over all joints: ``h_112`` and ``h_121`` count both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.named_functions import NamedFunction
from gdalembert.spatial.source_text import comment_text


class TorqueEquation(NamedTuple):
    """An equation of torques in terms, in plain text and as LaTeX; ``of`` are the names of these terms."""

    plain: str
    latex: str
    of: tuple[str, ...]


_TERMS = {
    "generalized_dalembert": TorqueEquation(
        "tau_i = sum_j (D_tra_ij + D_rot_ij) a_j + I_act_i a_i + H_tra_i + H_rot_i + G_i",
        r"\tau_i = \sum_j (D^{\mathrm{tra}}_{ij} + D^{\mathrm{rot}}_{ij}) a_j + I^{\mathrm{act}}_i a_i"
        r" + H^{\mathrm{tra}}_i + H^{\mathrm{rot}}_i + G_i",
        ("D_tra", "D_rot", "H_tra", "H_rot", "G", "I_act"),
    ),
    "lagrange_euler": TorqueEquation(
        "tau_i = sum_j D_ij a_j + I_act_i a_i + sum_j sum_k h_ijk v_j v_k + c_i, each sum over all joints",
        r"\tau_i = \sum_j D_{ij} a_j + I^{\mathrm{act}}_i a_i + \sum_j \sum_k h_{ijk} v_j v_k + c_i",
        ("D", "h", "c", "I_act"),
    ),
    "newton_euler": TorqueEquation(
        "tau_i = axis_i . moment_i (revolute) or axis_i . force_i (prismatic) + I_act_i a_i, column i being joint i's",
        r"\tau_i = \mathrm{axis}_i \cdot \mathrm{moment}_i \text{ (revolute) or } \mathrm{axis}_i \cdot"
        r" \mathrm{force}_i \text{ (prismatic)} + I^{\mathrm{act}}_i a_i",
        ("force", "moment"),
    ),
    "arm": TorqueEquation(
        "tau_r = m_r a_r + m_rf a_f + C_1 + G_1, 0 = m_rf^T a_r + m_f a_f + C_2 + G_2 + K_f q_f: joints r and modes f, "
        "without armature, rotors and damping",
        r"\tau_r = m^{\mathrm{r}} a_r + m^{\mathrm{rf}} a_f + C_1 + G_1, \; 0 = (m^{\mathrm{rf}})^T a_r"
        r" + m^{\mathrm{f}} a_f + C_2 + G_2 + K^{\mathrm{f}} q_f \text{: joints } r \text{, modes } f"
        r" \text{, no armature, rotors, damping}",
        ("m_r", "m_rf", "m_f", "C", "G", "K_f"),
    ),
}
"""Equations by the name of the formulation."""
_ARM = TorqueEquation(
    "tau = M a + C v + g + K q + D_d v", r"\tau = M a + C v + g + K q + D^{\mathrm{d}} v", ("M", "C", "g", "K", "D_d")
)
"""The equation of robots with flexible links and joints."""
_FUNCTIONS = (
    TorqueEquation("tau = M a + C v + g", r"\tau = M a + C v + g", ("M", "C", "g")),
    TorqueEquation("tau = M a + nle", r"\tau = M a + \mathrm{nle}", ("nle",)),
    TorqueEquation(
        "tau = Y pi + I_act a, without friction, springs and other forces",
        r"\tau = Y \pi + I^{\mathrm{act}} a \text{, without friction, springs and other forces}",
        ("Y",),
    ),
    TorqueEquation(
        "tau = Y_base beta + I_act a, without friction, springs and other forces",
        r"\tau = Y^{\mathrm{base}} \beta + I^{\mathrm{act}} a \text{, without friction, springs and other forces}",
        ("Y_base",),
    ),
)
_MEANINGS = {
    "M": "mass matrix, rotor inertia included",
    "C": "Coriolis matrix, with dM/dt - 2C skew",
    "g": "torque that holds the links against gravity",
    "nle": "C v + g",
    "D": "inertia of the links",
    "D_tra": "inertia due to the translation of the links",
    "D_rot": "inertia due to the rotation of the links",
    "H_tra": "Coriolis and centrifugal torque due to the translation of the links",
    "H_rot": "Coriolis and centrifugal torque due to the rotation of the links",
    "h": "coefficients of Coriolis and centrifugal torques, of which h_ijk and h_ikj both count",
    "c": "torque that holds the links against gravity",
    "G": "torque that holds the links against gravity",
    "I_act": "rotor inertia at the joints",
    "force": "force on each link through its joint, in the frame of the joint",
    "moment": "its moment about the origin of that frame",
    "f": "force and moment on each link through its joint, in the frame of the joint, about its origin",
    "T": "placement of the frame in the universe, [R p; 0 1]",
    "J": "Jacobian: twist = J v, linear part first",
    "Y": "regressor: ten columns a joint's body, m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of the joint",
    "Y_base": "regressor of the base parameters",
    "K": "stiffness of modes and flexible joints",
    "D_d": "damping of modes and flexible joints",
    "m_r": "mass matrix of the joints",
    "m_rf": "its coupling with the modes",
    "m_f": "mass matrix of the modes",
    "K_f": "stiffness of the modes",
}
_MEANINGS |= dict.fromkeys(("C_1", "C_2"), "Coriolis and centrifugal forces on joints (1) and modes (2)")
_MEANINGS |= dict.fromkeys(("G_1", "G_2"), "forces that hold joints (1) and modes (2) against gravity")
"""Meanings by the name of the matrix, without the frame."""


_LONGEST = 10_000
"""Characters of a formula of a base parameter."""


def sums(dynamics: Dynamics, names: Iterable[str], has_terms: bool) -> list[TorqueEquation]:
    """Equations of the torque in terms of what is written: the terms of a formulation, and Functions."""
    names = [*names]
    written = {re.sub(r"_\d+$", "", name) for name in names}
    is_arm = any(force.name == "stiffness" for force in dynamics.forces)
    of_terms = _TERMS.get("arm" if is_arm else getattr(dynamics, "name", ""))
    written_sums = [of_terms] if has_terms and of_terms is not None and written & {*of_terms.of} else []
    functions = (_ARM, *_FUNCTIONS[1:]) if is_arm else _FUNCTIONS
    return written_sums + [total for total in functions if {*names} & {*total.of}]


def of_functions(functions: Iterable[NamedFunction], dynamics: Dynamics) -> list[str]:
    """Lines for the head of code: what the columns of regressors are."""
    asked, lines = {function.of for function in functions}, []
    if {"torque_regressor", "kinetic_energy_regressor", "potential_energy_regressor"} & asked:
        bodies = ", ".join(map(comment_text, dynamics.tree.body_names))
        lines += [f"Columns of regressors: {_MEANINGS['Y'].partition(': ')[2]}; bodies: {bodies}.", _FUNCTIONS[2].plain]
    if "base_regressor" in asked:
        formulas = (comment_text(text.replace("*", " "), _LONGEST) for text in dynamics.base_parameters.names)
        lines += [f"beta_{k} = {text}" for k, text in enumerate(formulas, 1)] + [_FUNCTIONS[3].plain]
    return ["", *lines] if lines else []


def meaning(name: str) -> str:
    """The meaning of a matrix, or ""."""
    family = re.sub(r"_\d+$", "", name)
    return (
        _MEANINGS.get(name)
        or _MEANINGS.get(family)
        or _MEANINGS.get(family.partition("_")[0] if family[:2] in ("T_", "J_") else "", "")
    )
