"""The recursive Newton–Euler equations as a formulation; they stand in :mod:`gdalembert.dynamics.newton_euler`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cached_property, reduce
from typing import ClassVar, Self

import casadi as ca
import numpy as np
import pinocchio as pin

from gdalembert.dynamics.constraints.constraint_set import ConstraintSet
from gdalembert.dynamics.dynamics import Dynamics, formulations
from gdalembert.dynamics.equations_of_motion import EquationsOfMotion
from gdalembert.dynamics.forces import Gravity
from gdalembert.dynamics.newton_euler.aba import constrained_forward_dynamics, constrained_impact, forward_dynamics
from gdalembert.dynamics.newton_euler.crba import mass_matrix, place_in_root_axes
from gdalembert.dynamics.newton_euler.forward_derivatives import forward_dynamics_derivatives
from gdalembert.dynamics.newton_euler.links import Loads, Placing, place
from gdalembert.dynamics.newton_euler.rnea import gravity_torques, inverse_dynamics, joint_wrenches, kinetic_energy
from gdalembert.dynamics.newton_euler.rnea_derivatives import coriolis_matrix, inverse_dynamics_derivatives
from gdalembert.dynamics.newton_euler.robot_at_q import RobotAtQ
from gdalembert.dynamics.sources import Source
from gdalembert.dynamics.wrenches import NO_WRENCHES, REFERENCES, ExternalWrenches
from gdalembert.model.regrouping import prepare
from gdalembert.model.tree import Tree
from gdalembert.spatial.algebra import Matrix, symmetric
from gdalembert.spatial.arrays import frozen
from gdalembert.spatial.factorization import symmetric_solve
from gdalembert.spatial.functions import function, smaller, symbols
from gdalembert.spatial.spatial_vectors import Wrench

_LONG = 5
"""Joints above a joint on average, as in a chain of 11, from which on links are placed in the axes of the root too."""

_VERY_LONG = 8
"""Such joints, as in a chain of 17, from which on forward dynamics is differentiated by articulated bodies alone."""

_SHALLOW = 2.4
"""Coordinates above a joint on average up to which derivatives of tau can be smaller than the recursions for them: five
joints in a plane, or any number of legs with two joints."""

_SMALL, _ABOVE = 8, 2.0
"""Joints, and joints above a joint on average, up to which another formulation can have a smaller graph."""

_FEW = 5
"""Coordinates of a joint and its flexible link, with two modes in each plane of bending, that are few."""

_LARGE = 24
"""Joints of a robot beyond which link frames are chosen in one way only."""


class RecursiveNewtonEuler(Dynamics):
    """Dynamics of any tree by the recursion of Newton and Euler; a formulation or a robot gives it a name."""

    @cached_property
    def _prepared(self) -> tuple[Tree, ...]:
        """The robot in link frames of our own, where links keep the axes of their joints, and where they do not.

        Which is smaller depends on the Function. Bodies of symbols are regrouped if that makes the graph of tau
        smaller. Trees that are the same occur once; of a large robot, whose graphs take seconds and differ little,
        there is one.
        """
        tree = self.tree
        keeping = (True,) if len(tree.joints) > _LARGE else (True, False)
        if tree.is_numeric:
            return tuple(dict.fromkeys(prepare(tree, keep_axes=keep) for keep in keeping))
        q, v, a = symbols(q=tree.nq, v=tree.nv, a=tree.nv).values()

        def size(prepared: Tree) -> int:
            return int(ca.n_nodes(ca.cse([inverse_dynamics(prepared, q, v, a)])[0]))

        return tuple(
            min((prepare(tree, regroup_symbols=regroup, keep_axes=keep) for regroup in (False, True)), key=size)
            for keep in keeping
        )

    def _smallest(self, write: Callable[..., Matrix], *arguments: Matrix | Loads) -> Matrix:
        """The smallest of the expressions of the prepared trees."""
        return reduce(smaller, (write(tree, *arguments) for tree in self._prepared))

    def _smallest_placed(self, write: Callable[..., Matrix], *arguments: Matrix) -> Matrix:
        """The smallest expression; in long chains with all links in the axes of the root besides."""
        smallest = self._smallest(write, *arguments)
        if self._ancestors < _LONG or not self.tree.has_constant_subspaces:
            return smallest
        return smaller(smallest, write(self._prepared[0], *arguments, placed=place_in_root_axes))

    @property
    def _ancestors(self) -> float:
        """Joints and modes above a joint on average."""
        joints = self.tree.joints
        above = (joints[i].type for j in range(len(joints)) for i in self.tree.path(j)[:-1])
        return sum(each.nv if each.is_modal else 1 for each in above) / len(joints)

    def inverse_dynamics_expression(self, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        return self._smallest(inverse_dynamics, q, v, a, Loads.of(self.external_wrenches, wrenches))

    def nle_expression(self, q: Matrix, v: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        return RecursiveNewtonEuler.inverse_dynamics_expression(self, q, v, ca.DM(self.tree.nv, 1), wrenches)

    def generalized_gravity_expression(self, q: Matrix) -> Matrix:
        return self._smallest(gravity_torques, q)

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        return self._smallest_placed(mass_matrix, q)

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        smallest = self._smallest_placed(coriolis_matrix, q, v)
        if self._is_plain and all(joint.type.velocity_is_rate for joint in self.tree.joints):
            smallest = smaller(smallest, Dynamics.coriolis_matrix_expression(self, q, v))
        return smallest

    def forward_dynamics_expression(self, q: Matrix, v: Matrix, tau: Matrix, wrenches: Matrix = NO_WRENCHES) -> Matrix:
        loads = Loads.of(self.external_wrenches, wrenches)
        if self._is_coupled:
            return self._smallest(self._eliminated, q, v, tau, loads)
        articulated = self._smallest(forward_dynamics, q, v, tau, loads)
        if self._is_deep:
            return articulated
        return smaller(articulated, self._smallest(self._eliminated, q, v, tau, loads))

    def constrained_dynamics_expression(
        self, constraints: ConstraintSet, q: Matrix, v: Matrix, tau: Matrix, wrenches: Matrix
    ) -> tuple[Matrix, Matrix]:
        write, loads = Dynamics.constrained_dynamics_expression, Loads.of(self.external_wrenches, wrenches)
        correction = constraints.correction(self.tree, q, v)
        return self._constrained(
            lambda tree: constrained_forward_dynamics(tree, constraints, q, v, tau, correction, loads),
            lambda variant: write(variant, constraints, q, v, tau, wrenches),
        )

    def impact_expression(self, constraints: ConstraintSet, q: Matrix, change: Matrix) -> tuple[Matrix, Matrix]:
        write = Dynamics.impact_expression
        return self._constrained(
            lambda tree: constrained_impact(tree, constraints, q, change),
            lambda variant: write(variant, constraints, q, change),
        )

    def _constrained(
        self,
        swept: Callable[[Tree], tuple[Matrix, Matrix]],
        eliminated: Callable[[Self], tuple[Matrix, Matrix]],
    ) -> tuple[Matrix, Matrix]:
        """Accelerations and forces by the smallest variant: by articulated bodies, or by M."""
        found = [] if self._is_coupled else [ca.vertcat(*swept(tree)) for tree in self._prepared]
        if self._is_coupled or not self._is_deep:
            found += [ca.vertcat(*eliminated(variant)) for variant in self._variants]
        smallest = reduce(smaller, found)
        a, forces = ca.vertsplit(smallest, [0, self.tree.nv, smallest.shape[0]])
        return a, forces

    def _eliminated(self, tree: Tree, q: Matrix, v: Matrix, tau: Matrix, loads: Loads) -> Matrix:
        """a of M a = tau − nle + Σ Jᵀ w."""
        bias = inverse_dynamics(tree, q, v, ca.DM(tree.nv, 1), loads)
        return symmetric_solve(mass_matrix(tree, q) + self._armature_matrix, tau - bias)

    @property
    def _is_coupled(self) -> bool:
        """True if joints cannot be eliminated one by one: they share a coordinate, or a motor."""
        return self.tree.has_mimic or self.motor_inertia is not None

    @property
    def _is_deep(self) -> bool:
        """True if M, with as many entries in a row as the joint has ancestors, is far too large to be solved for a.

        In operations: an entry of M takes about 20 (and the elimination one for each pair of them), an articulated
        body about 350. Where the two are near each other both graphs are made and compared.
        """
        depths = [sum(self.tree.joints[i].type.nv for i in self.tree.path(j)) for j in range(len(self.tree.joints))]
        elimination, articulated = sum(d * d + 20 * d for d in depths), 350 * len(depths)
        return elimination > 2 * articulated

    def inverse_dynamics_derivatives_expression(
        self, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix = NO_WRENCHES
    ) -> tuple[Matrix, Matrix]:
        loads = Loads.of(self.external_wrenches, wrenches)

        def both(tree: Tree, placed: Placing = place) -> Matrix:
            return ca.horzcat(*inverse_dynamics_derivatives(tree, q, v, a, loads, placed))

        smallest = self._smallest(both) if loads.at else self._smallest_placed(both)
        of_world = self.wrench_stiffness_expression(q, wrenches, [pin.WORLD])
        smallest += ca.horzcat(of_world, ca.DM(*of_world.shape))
        if self._is_plain:
            by_differentiation = super().inverse_dynamics_derivatives_expression(q, v, a, wrenches)
            smallest = smaller(smallest, ca.horzcat(*by_differentiation))
        by_q, by_v = ca.horzsplit(smallest, self.tree.nv)
        return by_q, by_v

    @property
    def _is_plain(self) -> bool:
        """True if differentiation of tau can be smaller than the recursion: of one flexible link.

        It bends in a plane, or the robot has few coordinates. By differentiation two planar rods take a third more, and
        a spatial one on two joints half as much again.
        """
        flexible = list(self.tree.modal)
        axes = [section.rotation_axis for i in flexible for section in self.tree.sections(i)]
        is_planar = all(axis is not None for axis in axes)
        return len(flexible) == 1 and (is_planar or self.tree.nv <= _FEW)

    def _torque_of(self, wrenches: ExternalWrenches, q: Matrix, values: Matrix) -> Matrix:
        """Torques by the recursion, of a robot at rest without mass."""
        rest, loads = ca.DM(self.tree.nv, 1), Loads(wrenches, values)
        return self._smallest(lambda tree: inverse_dynamics(massless(tree), q, rest, rest, loads))

    def wrench_stiffness_expression(
        self, q: Matrix, wrenches: Matrix, references: Collection[pin.ReferenceFrame] = REFERENCES
    ) -> Matrix:
        """Stiffness by the recursion, of a robot at rest without mass; that of WORLD wrenches by differentiation."""
        in_recursion = set(references) - {pin.WORLD}
        if not (in_recursion and self.external_wrenches):
            return super().wrench_stiffness_expression(q, wrenches, references)
        rest, loads = ca.DM(self.tree.nv, 1), Loads(self.external_wrenches, wrenches).given_in(in_recursion)

        def stiffness(tree: Tree) -> Matrix:
            return inverse_dynamics_derivatives(massless(tree), q, rest, rest, loads)[0]

        of_world = super().wrench_stiffness_expression(q, wrenches, set(references) - in_recursion)
        return self._smallest(stiffness) + of_world

    def forward_dynamics_derivatives_expression(self, q: Matrix, v: Matrix, tau: Matrix, wrenches: Matrix) -> Matrix:
        name = "inverse_dynamics_derivatives_expression"
        is_own = getattr(type(self), name) is getattr(RecursiveNewtonEuler, name)
        variants: list[Matrix] = []
        if self._ancestors >= _LONG and is_own and not self._is_coupled:  # by articulated bodies
            effort = tau - self.force_torque_expression(q, v) - self.wrench_torque_expression(q, wrenches)
            swept = forward_dynamics_derivatives(self._prepared[0], q, v, effort)
            derivatives, inverse = swept[:, : 2 * self.tree.nv], swept[:, 2 * self.tree.nv :]
            by_q, by_v = self.force_derivatives_expression(q, v)
            by_q += self.wrench_stiffness_expression(q, wrenches)
            variants.append(ca.horzcat(derivatives - inverse @ ca.horzcat(by_q, by_v), inverse))
        if not variants or self._ancestors < _VERY_LONG:
            write = Dynamics.forward_dynamics_derivatives_expression
            variants += [write(variant, q, v, tau, wrenches) for variant in self._variants]
        return reduce(smaller, variants)

    def inverse_dynamics_hessian_expression(
        self, q: Matrix, v: Matrix, a: Matrix, lam: Matrix, wrenches: Matrix
    ) -> Matrix:
        write = Dynamics.inverse_dynamics_hessian_expression
        return reduce(smaller, (write(variant, q, v, a, lam, wrenches) for variant in self._variants))

    @property
    def _variants(self) -> list[Self]:
        """Variants of the robot, one for each prepared tree: what is made of M, nle and tau shares more of one tree."""
        variants = [self._on(self.tree) for _ in self._prepared]
        for variant, tree in zip(variants, self._prepared, strict=True):
            vars(variant)["_prepared"] = (tree,)
        return variants

    def kinetic_energy_expression(self, q: Matrix, v: Matrix) -> Matrix:
        return self._smallest(kinetic_energy, q, v)

    def base_regressor_expression(self, q: Matrix, v: Matrix, a: Matrix) -> Matrix:
        beta = ca.SX.sym("beta", len(self.base_parameters))
        tree = self._base.regrouped(beta).with_constants(self.tree)
        return ca.jacobian(inverse_dynamics(tree, q, v, a), beta)


class DifferentiatedNewtonEuler(RecursiveNewtonEuler):
    """The recursion for tau alone: M, C and the derivatives are algorithmic ones of tau, by a, by v and by q."""

    def mass_matrix_expression(self, q: Matrix) -> Matrix:
        return symmetric(Dynamics.mass_matrix_expression(self, q))

    def coriolis_matrix_expression(self, q: Matrix, v: Matrix) -> Matrix:
        if all(joint.type.velocity_is_rate for joint in self.tree.joints):
            return Dynamics.coriolis_matrix_expression(self, q, v)
        return super().coriolis_matrix_expression(q, v)

    def inverse_dynamics_derivatives_expression(
        self, q: Matrix, v: Matrix, a: Matrix, wrenches: Matrix = NO_WRENCHES
    ) -> tuple[Matrix, Matrix]:
        return Dynamics.inverse_dynamics_derivatives_expression(self, q, v, a, wrenches)


class NewtonEuler(RecursiveNewtonEuler):
    """Dynamics by the recursive Newton–Euler equations; see the module for the equations.

    Arguments, errors and all common Functions: :class:`~gdalembert.Dynamics`.
    """

    name: ClassVar[str] = "newton_euler"
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "luh1980",
            "article",
            "On-Line Computational Scheme for Mechanical Manipulators",
            ("J. Y. S. Luh", "M. W. Walker", "R. P. C. Paul"),
            "newton_euler",
            {"journal": "Journal of Dynamic Systems, Measurement, and Control", "year": "1980"},
            equations="recursive Newton-Euler equations",
        ),
        Source(
            "shala",
            "article",
            "Dynamic Modeling of 3 DoF Robot Manipulator",
            ("A. Shala", "R. Likaj"),
            "newton_euler",
            {"journal": "Acta Technica Corviniensis"},
        ),
    )

    @property
    def _is_small(self) -> bool:
        return type(self) is NewtonEuler and len(self.tree.joints) <= _SMALL and self._ancestors <= _ABOVE

    @cached_property
    def _alternatives(self) -> tuple[EquationsOfMotion, ...]:
        """Formulations that may have a smaller graph, of a robot without equations of its own."""
        if type(self) is not NewtonEuler:
            return ()
        joints = self.tree.joints
        others: list[type[Dynamics]] = []
        above = sum(joints[i].type.nv for j in range(len(joints)) for i in self.tree.path(j)[:-1])
        if len(joints) <= _LARGE and above <= _SHALLOW * len(joints):
            others += [DifferentiatedNewtonEuler]
        if self._is_small:
            named = formulations()  # imported here, for the few robots that they are smaller of
            others += [named["lagrange_euler"], named["generalized_dalembert"]]
        return tuple(self._by(other) for other in others)

    @cached_property
    def terms(self) -> ca.Function:
        """(q, v, a) → (force, moment), 3 × (njoints − 1) each: the wrench on each link through its joint.

        In the joint's (moved) frame, about its origin: ``data.f`` of ``pin.rnea``, gravity included, armature not.
        """
        self._require_bodies("terms")
        s = self.symbols("q", "v", "a")
        wrenches = self._joint_wrenches(s, Loads.of(self.external_wrenches, NO_WRENCHES))
        force = ca.horzcat(*(wrench.force for wrench in wrenches))
        moment = ca.horzcat(*(wrench.moment for wrench in wrenches))
        return function("terms", s, {"force": force, "moment": moment})

    @cached_property
    def joint_wrenches(self) -> ca.Function:
        """(q, v, a[, wrenches]) → (f), 6 × (njoints − 1): the wrench on each link through its joint, linear first.

        In the joint's (moved) frame, about its origin: ``data.f`` of ``pin.rnea`` under external forces, gravity
        included, armature not. It is what bearings bear and a force sensor in the joint measures.
        """
        self._require_bodies("joint_wrenches")
        s = self.symbols("q", "v", "a", "wrenches")
        wrenches = self._joint_wrenches(s, Loads.of(self.external_wrenches, self.wrenches_of(s)))
        return function(
            "joint_wrenches", s, {"f": ca.horzcat(*(ca.vertcat(each.force, each.moment) for each in wrenches))}
        )

    def _joint_wrenches(self, s: Mapping[str, ca.SX], loads: Loads) -> list[Wrench]:
        """The wrench that each of Pinocchio's joints passes on to its link, in its axes."""
        robot, rates = RobotAtQ.of(self.tree, s["q"]), (s["v"], s["a"])
        motions = robot.motions(*rates, Gravity(self.tree).base_acceleration)
        wrenches, _ = joint_wrenches(robot, motions, *rates, loads.on(self.tree, robot.links, world=True))
        return [wrenches[i] for i in self.tree.links]


def massless(tree: Tree) -> Tree:
    """The robot without mass, in a world without gravity."""
    nothing = frozen(np.zeros((4, 4)))
    joints = tuple(replace(joint, pseudo_inertia=nothing) for joint in tree.joints)
    return replace(tree, joints=joints, gravity=frozen(np.zeros(3)))
