"""The coefficients of Radau IIA methods (Hairer, Wanner 1996, IV.5 and IV.8): collocation with the end as last node.

A step of length h from x is x + h Σ b_i k_i with stages z_i = h Σ_j a_ij k_j, k_i = f(t + c_i h, x + z_i). The method
with s stages has order 2 s − 1 and damps what is infinitely stiff completely. b is the last row of a: the last stage is
the end of the step.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from gdalembert.spatial.arrays import Array


@dataclass(frozen=True, eq=False)
class RadauScheme:
    """A method with s stages, and what Newton's iteration, the error estimate and output between steps need of it.

    A⁻¹ has one real eigenvalue and (s − 1) / 2 pairs of complex ones: with A⁻¹ = T diag(μ) T⁻¹ the equations of the
    stages fall apart, one for the real eigenvalue and one for each pair (Hairer, Wanner, IV.8).

    Attributes:
        nodes: c (s).
        weights: b (s).
        eigenvalues: μ (m), m = (s + 1) / 2: the real one, then one of each pair.
        from_eigen: T, where both of a pair count (s × m).
        to_eigen: the rows of T⁻¹ (m × s).
        error: (s) e of the estimate (μ₀/h − J)⁻¹ (f(t, x) + Σ e_i z_i / h), by the embedded method of order s.
        quadrature_error: (s + 1) the same for an integral: h times it times the integrand at t and at the stages.
        monomials: (s × s) the coefficients of θ, … θ^s of the polynomial through the stages, from the stages.
    """

    nodes: Array
    weights: Array
    eigenvalues: Array
    from_eigen: Array
    to_eigen: Array
    error: Array
    quadrature_error: Array
    monomials: Array

    @staticmethod
    def of(stages: int) -> RadauScheme:
        """The method with an odd number of stages."""
        c = np.array(ca.collocation_points(stages, "radau"))
        powers = np.arange(1, stages + 1)
        inner = np.vander(c, stages, increasing=True)
        a = np.linalg.solve(inner.T, (c[:, None] ** powers / powers).T).T
        inverse = np.linalg.inv(a)
        values, vectors = np.linalg.eig(inverse)
        real = int(np.abs(values.imag).argmin())
        chosen = [real, *np.flatnonzero(values.imag > 0)]
        twice = np.array([1.0] + [2.0] * (len(chosen) - 1))
        start = 1 / values[real].real  # the weight of f(t, x) in the embedded method
        embedded = np.linalg.solve(inner.T, 1 / powers - start * (powers == 1))
        return RadauScheme(
            nodes=c,
            weights=a[-1],
            eigenvalues=values[chosen],
            from_eigen=vectors[:, chosen] * twice,
            to_eigen=np.linalg.inv(vectors)[chosen],
            error=(embedded - a[-1]) @ inverse / start,
            quadrature_error=np.array([start, *(embedded - a[-1])]),
            monomials=np.linalg.inv(c[:, None] ** powers),
        )

    def between(self, theta: Array) -> Array:
        """(m × s): x(t + θ h) − x for each θ (m), by the polynomial through the stages, is this times the stages."""
        powers = np.arange(1, len(self.nodes) + 1)
        return np.asarray(theta[:, None] ** powers @ self.monomials)

    def integral(self, theta: Array) -> Array:
        """(m × s): ∫ g dt / h from t to t + θ h for each θ (m) is this times the values of g at the stages."""
        powers = np.arange(1, len(self.nodes) + 1)
        inner = np.linalg.inv(np.vander(self.nodes, len(self.nodes), increasing=True))
        return np.asarray(theta[:, None] ** powers / powers @ inner)

    def extrapolated(self, stages: Array, ratio: float) -> Array:
        """The stages (s × n) of the next step, which is ``ratio`` times as long, by the polynomial of this step."""
        return np.asarray(self.between(1 + ratio * self.nodes) @ stages - stages[-1])
