"""Redundant constraints of the user: a rank check of the Jacobian where a solver ended.

A solver that meets dependent constraints determines no multipliers, and creeps. A row of the user is dependent if it is
a combination of the rows of the problem and of the rows of the user before it.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from gdalembert.nlp.entries import Label
from gdalembert.spatial.arrays import Array

SLOW = 50
"""A solve of more iterations is worth the check."""
_DEPENDENT = 1e-6
"""The distance of a row of length 1 from the span of others, below which it depends on them."""
_ACTIVE = 1e-5
"""The distance of an inequality from its bound, scaled, below which it is active."""
_PART, _HELD = 0.1, 1e-3
"""The least parts in a combination that are named, over the largest: of any row, and of one that is named first."""
_NAMED = 3
"""The most constraints that are named."""
_RIDGE, _PASSES = 1e-10, 4
"""What is added to the diagonal of A Aᵀ, and how often the residual is projected again, which takes it out."""
_ROWS, _USER_ROWS = 20_000, 1_000
"""The most rows that are compared: of a problem, and of the user."""


class Active(NamedTuple):
    """The equations and the active inequalities: unit rows, what each stands for, and whether it is an equation."""

    rows: ca.DM
    labels: list[Label]
    equal: list[bool]


def active(jacobian: ca.DM, g: Array, limits: dict[str, Array], labels: list[Label], fixed: dict[int, Label]) -> Active:
    """The rows of ``jacobian`` that hold with equality, and those of fixed variables.

    ``limits``: lbg, ubg and lbx, ubx. ``labels``: of the rows of g. ``fixed``: of variables with equal bounds. An
    inequality of such variables alone hinders no solver, and is left out.
    """
    low, high = limits["lbg"], limits["ubg"]
    equal = low == high
    margin = np.minimum(np.abs(g - low), np.abs(g - high))
    user = np.array([label.user for label in labels], dtype=bool)
    still = limits["lbx"] == limits["ubx"]
    moving = np.zeros(len(g), dtype=bool)
    row, column = (np.array(index, dtype=int) for index in jacobian.sparsity().get_triplet())
    moving[row[~still[column]]] = True
    kept = np.flatnonzero((equal & (moving | ~user)) | (user & moving & (margin < _ACTIVE)))
    held = [entry for entry in np.flatnonzero(still).tolist() if entry in fixed]
    ones = ca.DM.triplet(list(range(len(held))), held, ca.DM.ones(len(held)), len(held), jacobian.shape[1])
    rows = ca.vertcat(jacobian[kept.tolist(), :], ones)
    sizes = np.sqrt((rows * rows @ ca.DM.ones(rows.shape[1])).full().ravel())
    rows = ca.diag(ca.DM(1 / np.where(sizes > 0, sizes, 1.0))) @ rows
    names = [labels[i] for i in kept.tolist()] + [fixed[entry] for entry in held]
    return Active(ca.sparsify(rows), names, [*equal[kept].tolist(), *[True] * len(held)])


def dependent(active_rows: Active) -> list[str]:
    """A sentence for each constraint of the user that depends on others."""
    users = [i for i, label in enumerate(active_rows.labels) if label.user]
    others = [i for i, label in enumerate(active_rows.labels) if not label.user]
    users.sort(key=lambda i: not active_rows.equal[i])
    finite = bool(np.isfinite(active_rows.rows.nonzeros()).all())
    if not users or not others or not finite or len(active_rows.labels) > _ROWS:
        return []
    left, parts = _projected(active_rows.rows[others, :], active_rows.rows[users[:_USER_ROWS], :].T)
    labels = [active_rows.labels[i] for i in others]
    basis, made_of = np.zeros((left.shape[0], 0)), np.zeros((len(others), 0))
    sentences: dict[str, list[str]] = {}
    for i, residual, part in zip(users, left.T, parts.T, strict=False):
        along = basis.T @ residual
        residual = residual - basis @ along
        residual = residual - basis @ (basis.T @ residual)
        whole = np.concatenate([part, np.zeros(len(labels) - len(part))]) + made_of @ along
        label, size = active_rows.labels[i], float(np.linalg.norm(residual))
        if size < _DEPENDENT:
            sentences.setdefault(label.name, []).append(f"{label} follows from {_partners(whole, labels)}")
        elif active_rows.equal[i]:
            basis, labels = np.column_stack([basis, residual / size]), [*labels, label]
            made_of = np.column_stack([np.vstack([made_of, np.zeros(basis.shape[1] - 1)]), [*-whole, 1.0]])
            made_of[:, -1] /= size
    said = []
    for rows in sentences.values():  # one sentence for all rows of a constraint: that of the row with the most partners
        more = f", as {len(rows) - 1} more of its rows do" if len(rows) > 1 else ""
        said.append(f"{max(rows, key=len)}{more}: dependent constraints slow the solver down or stop it; leave it out")
    return said


def _projected(rows: ca.DM, of: ca.DM) -> tuple[Array, Array]:
    """Columns less their parts along rows, and these parts."""
    count = rows.shape[0]
    normal = rows @ rows.T + _RIDGE * ca.DM.eye(count)
    solver = ca.Linsol("normal", "ldl", normal.sparsity())
    left, parts = ca.DM(of), ca.DM.zeros(count, of.shape[1])
    solver.sfact(normal)
    solver.nfact(normal)
    for _ in range(_PASSES):
        step = solver.solve(normal, ca.densify(rows @ left))
        left, parts = left - rows.T @ step, parts + step
    return left.full(), parts.full()


def _partners(parts: Array, labels: list[Label]) -> str:
    """The constraints with the largest parts in a combination, by rank; that of rank 0 only if nothing else has one."""
    sizes: dict[str, tuple[float, Label]] = {}
    for x, label in zip(np.abs(parts).tolist(), labels, strict=True):
        sizes[label.name] = max(sizes.get(label.name, (0.0, label)), (x, label), key=lambda pair: pair[0])
    ranked = [(x, label) for x, label in sizes.values() if label.rank]
    candidates = ranked if any(x > _HELD for x, _ in ranked) else list(sizes.values())
    largest = max(x for x, _ in candidates)
    partners = [(x, label) for x, label in candidates if x > (_HELD if label.rank > 1 else _PART) * largest]
    partners.sort(key=lambda pair: (pair[1].rank < 2, -pair[0]))
    return " and ".join(str(label) for _, label in partners[:_NAMED])
