"""Particles carry the mass of a link that shortens: their moments, what is left, and links of every dimension."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from gdalembert.errors import BeamWarning
from gdalembert.flexible.reference import cetinkunt_book_1988 as explicit
from gdalembert.model.modal_inertia import ModalInertia
from gdalembert.spatial.arrays import Array
from tests.helpers.models import relative_error

X = np.array([1.0, 0.0, 0.0])

BEAM = gd.Beam.rectangle(0.8, width=0.03, height=lambda eta: 0.02 - 0.01 * eta, density=2700.0, youngs_modulus=70e9)


def tapered(*, foreshortening: bool = True) -> ModalInertia:
    modes = gd.modes.hermite() + gd.modes.clamped_clamped(1)
    return gd.FlexibleLink(BEAM, modes, gd.modes.hermite(), foreshortening=foreshortening).inertia()


def test_what_does_not_shorten_stays() -> None:
    inertia = tapered(foreshortening=False)
    assert inertia.lumped(X) == (inertia, ())


def test_a_beam_is_two_particles_and_a_remainder_without_moments() -> None:
    inertia = tapered()
    remainder, particles = inertia.lumped(X)
    n, mass = inertia.modes, inertia.rigid[3, 3]
    assert sum(m for m, _ in particles) == pytest.approx(mass, rel=1e-14)
    assert all(m > 0 for m, _ in particles)
    assert (particles[0][1].translation == 0).sum() > (particles[1][1].translation == 0).sum()  # at rest in a mode
    assert remainder.shapes == n
    # only section inertia is left of what has a moment with 1 and η
    assert not remainder.rigid[3].any()
    assert not remainder.first[:, 3].any()
    assert np.abs(remainder.first).max() < 0.01 * np.abs(inertia.first[:n]).max()
    for f in np.random.default_rng(0).normal(size=(5, n)):
        moved = [0.5 * (f @ p.shortening @ f) * np.append(p.origin, 1) * m for m, p in particles]
        g = 0.5 * np.einsum("j,bjk,k->b", f, inertia.shortening, f)
        assert relative_error(sum(moved), np.einsum("bac,b->a", inertia.first[n:, :, :1], g)) < 1e-14
        squares = sum(0.25 * (f @ p.shortening @ f) ** 2 * m for m, p in particles)
        assert squares == pytest.approx(g @ inertia.second[n:, n:, 0, 0] @ g, rel=1e-12)


@pytest.mark.parametrize("modes", [gd.modes.hermite() + gd.modes.clamped_clamped(2), gd.modes.clamped_free(3)])
def test_no_particle_is_far_away(modes: gd.modes.ModeSet) -> None:
    """Also where a mode moves the beam without turning it on average, or turns it about its centre."""
    inertia = gd.FlexibleLink(gd.Beam(1.0, 0.5, EI_z=10.0), modes).inertia()
    _, particles = inertia.lumped(X)
    assert min(m for m, _ in particles) > 0.1 * inertia.rigid[3, 3]
    assert all(0 <= p.origin[0] <= 1 for _, p in particles)


def nodes(positions: list[list[float]]) -> gd.Nodes:
    """Masses that move in y, z and turn with two modes, and shorten."""
    rng, r = np.random.default_rng(len(positions)), np.array(positions)
    x = r[:, 0]
    translations = np.zeros((2, len(r), 3))
    translations[0, :, 1], translations[1, :, 2] = x**2, x**3
    rotations = np.zeros((2, len(r), 3))
    rotations[0, :, 2], rotations[1, :, 1] = 2 * x, -3 * x**2
    shortening = np.array([[4 / 3 * x**3, 0 * x], [0 * x, 9 / 5 * x**5]])
    masses = rng.uniform(0.1, 0.3, len(r))
    return gd.Nodes(masses, r, translations, np.diag([50.0, 80.0]), None, rotations, None, shortening)


DIMENSIONS = {
    "point": [[0.8, 0.0, 0.0]],
    "line": [[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.5, 0.0, 0.0], [0.8, 0.0, 0.0]],
    "plane": [[0.0, 0.0, 0.0], [0.3, 0.02, 0.0], [0.5, -0.03, 0.0], [0.8, 0.0, 0.0]],
    "space": [[0.0, 0.0, 0.0], [0.3, 0.02, 0.0], [0.5, -0.03, 0.02], [0.6, 0.0, -0.04], [0.8, 0.0, 0.0]],
}


@pytest.mark.long
@pytest.mark.parametrize("kind", DIMENSIONS)
def test_nodes_anywhere(kind: str) -> None:
    """As many particles as the masses have dimensions, and one; tau and M are those of the explicit equations."""
    given = nodes(DIMENSIONS[kind])
    assert len(given.inertia.lumped(X)[1]) == list(DIMENSIONS).index(kind) + 1
    model, body = gd.load_urdf("two_link_flexible"), pin.Inertia.FromSphere(0.1, 0.05)
    with pytest.warns(BeamWarning, match="link2"):  # another mass than that of the model
        arm = gd.FlexibleArm(model, {"link2": gd.FlexibleLink(given, tip_body=body, children={"tip": "tip"})})
    q, v, a = np.random.default_rng(1).normal(size=(3, arm.tree.nv)) * np.array([1, 1, 0.2, 0.2])
    m = explicit.mass_matrix(arm.tree, ca.DM(q))
    bias = explicit.coriolis_vector(arm.tree, ca.DM(q), ca.DM(v)) + explicit.gravity_vector(arm.tree, ca.DM(q))
    elastic = ca.DM(arm.stiffness_matrix) @ q
    assert relative_error(arm.mass_matrix(q).full(), m.full()) < 1e-12
    assert relative_error(column(arm.inverse_dynamics(q, v, a)), column(m @ a + bias + elastic)) < 1e-12


def column(x: ca.DM) -> Array:
    return np.asarray(x.full().ravel())
