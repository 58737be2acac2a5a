"""Closed forms of the Functions of a formulation."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import pinocchio as pin
import sympy

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.dynamics.generalized_dalembert import GeneralizedDAlembert
from gdalembert.errors import UnknownNameError, UnsupportedError
from gdalembert.model.tree import Tree
from gdalembert.symbolic.graph import MAX_TERMS, Formulas, Inputs, to_trigonometric
from gdalembert.symbolic.parameters import symbolic_tree
from gdalembert.symbolic.readable import readable
from gdalembert.symbolic.tree import SymbolicTree

CLOSED = (
    "inverse_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "nle",
    "generalized_gravity",
    "kinetic_energy",
    "potential_energy",
    "link_torques",
)
"""Functions that have closed forms, besides the ``terms`` of a formulation."""


def closed_forms(
    robot: SymbolicTree | Tree | pin.Model | str,
    formulation: type[Dynamics] = GeneralizedDAlembert,
    *,
    of: str = "terms",
    outputs: Iterable[str] | None = None,
    inputs: Inputs | None = None,
    max_terms: int = MAX_TERMS,
) -> dict[str, Formulas]:
    """The outputs of one Function of a formulation in unique form, by name, in the symbols q_1 …, v_1 …, a_1 ….

    Args:
        robot: a :class:`~gdalembert.symbolic.tree.SymbolicTree`, or what
            :func:`~gdalembert.symbolic.parameters.symbolic_tree` makes one of.
        formulation: ``GeneralizedDAlembert`` or ``LagrangeEuler``.
        of: the Function: ``"terms"`` (D_tra, D_rot, H_tra, H_rot, G, I_act, or D, h_1 …, c, I_act),
            ``"link_torques"`` (T_ij), ``"inverse_dynamics"``, ``"mass_matrix"``, ``"kinetic_energy"``, ….
        outputs: which of its outputs; by default all.
        inputs: other names, as ``{"a": ["alpha_1", "alpha_2"]}``; needed if a length is called a_2 and the Function
            has accelerations.
        max_terms: the size at which to give up, see :func:`~gdalembert.symbolic.graph.to_trigonometric`.

    Raises:
        UnknownNameError: if there is no such Function, output or input.
        ArgumentError: if a parameter has the name of an input's entry.
        UnsupportedError: if the robot is too large; the message has its size.
    """
    given = robot if isinstance(robot, SymbolicTree) else symbolic_tree(robot)
    tree = given.exact or given
    dynamics = tree.dynamics(formulation)
    known = [name for name in ("terms", *CLOSED) if hasattr(type(dynamics), name)]
    if of not in known:
        raise UnknownNameError("Function", of, known)
    function: ca.Function = getattr(dynamics, of)
    try:
        return to_trigonometric(function, {**tree.inputs(), **(inputs or {})}, outputs=outputs, max_terms=max_terms)
    except UnsupportedError as error:
        raise UnsupportedError(f"{tree.name}: {error}") from None


def readable_forms(
    robot: SymbolicTree | Tree | pin.Model | str,
    formulation: type[Dynamics] = GeneralizedDAlembert,
    *,
    of: str = "terms",
    outputs: Iterable[str] | None = None,
    inputs: Inputs | None = None,
    max_terms: int = MAX_TERMS,
) -> dict[str, sympy.Matrix]:
    """The same as readable SymPy matrices, see :func:`~gdalembert.symbolic.readable.readable`."""
    forms = closed_forms(robot, formulation, of=of, outputs=outputs, inputs=inputs, max_terms=max_terms)
    return {name: readable(matrix) for name, matrix in forms.items()}
