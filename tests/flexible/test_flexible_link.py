"""Flexible links: frequencies, damping, what is attached where, and bad input."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import fields, replace

import numpy as np
import pinocchio as pin
import pytest

from gdalembert.errors import ArgumentError, ArgumentTypeError, TipWarning
from gdalembert.flexible import modes
from gdalembert.flexible.beams import modal_integrals as integrals
from gdalembert.flexible.beams.beam import Beam
from gdalembert.flexible.beams.modal_integrals import modal_mass
from gdalembert.flexible.beams.nodes import Nodes
from gdalembert.flexible.flexible_link import FlexibleLink
from gdalembert.flexible.station import pseudo_inertia_of
from tests.helpers.models import inertia as random_inertia
from tests.helpers.models import placement

LENGTH, MU, EI_Y, EI_Z, EA, GJ = 1.3, 0.7, 20.0, 8.0, 1e5, 5.0
LINE = Beam(LENGTH, MU, EI_y=EI_Y, EI_z=EI_Z, EA=EA, GJ=GJ)
THICK = replace(LINE, section_inertia=(2e-3, 5e-3))
UNIT = {"bending_y": np.sqrt(EI_Z / (MU * LENGTH**4)), "bending_z": np.sqrt(EI_Y / (MU * LENGTH**4))}
TIGHT = 1e-12


# Frequencies.


@pytest.mark.parametrize("direction", UNIT)
@pytest.mark.parametrize("ratios", [(1.0, 0.0), (0.5, 0.1), (0.0, 0.4), (20.0, 3.0)])
def test_frequencies_with_a_body_on_the_tip_are_exact(direction: str, ratios: tuple[float, float]) -> None:
    each = modes.clamped_tip(6, *ratios)
    link = FlexibleLink(LINE, **{direction: each})
    mass, moment = ratios[0] * MU * LENGTH, ratios[1] * MU * LENGTH**3
    # x x of the body, so that it has the moment about y and z
    body = np.diag([moment, 0.0, 0.0, mass])
    found = link.own_frequencies(link.station("tip", body))
    assert np.abs(found / (np.array(each.roots) ** 2 * UNIT[direction]) - 1).max() < TIGHT


def test_section_inertia_lowers_bending() -> None:
    """A little, and by that of its own plane: Rayleigh's quotient ∫j φ'² / ∫μ φ² of the first mode."""
    each = modes.clamped_free(1)
    for direction, j in (("bending_y", 5e-3), ("bending_z", 2e-3)):
        line, thick = (FlexibleLink(beam, **{direction: each}) for beam in (LINE, THICK))
        ratio = (line.own_frequencies()[0] / thick.own_frequencies()[0]) ** 2 - 1
        # ∫φ'² = 4.6478 / l for ∫φ² = l
        assert abs(ratio / (j * 4.647778 / (MU * LENGTH**2)) - 1) < 1e-6


def test_units_do_not_matter() -> None:
    """Another normalisation of the modes, the same frequencies."""
    scaled = [modes.sampled([0, LENGTH / 2, LENGTH], [[0, k, 3 * k]]) for k in (1.0, 1e4)]
    a, b = (FlexibleLink(LINE, bending_z=each).own_frequencies() for each in scaled)
    assert np.allclose(a, b, rtol=1e-13, atol=0)


# Damping.


def test_modal_damping() -> None:
    """Each mode of the clamped link by itself, with its own ratio, from the lowest frequency up."""
    given = {"bending_y": modes.craig_bampton(1), "bending_z": modes.clamped_free(1), "torsion": modes.sine(1)}
    ratios = (0.01, 0.02, 0.03, 0.04, 0.0)
    link = FlexibleLink(THICK, **given, modal_damping=ratios)
    damping, mass, k = link.damping_matrix(), modal_mass(link.inertia()), link.inertia().stiffness
    assert np.array_equal(damping, damping.T)
    state = np.block([[np.zeros((5, 5)), np.eye(5)], [-np.linalg.solve(mass, k), -np.linalg.solve(mass, damping)]])
    found = np.linalg.eigvals(state)
    found = found[found.imag > 0]
    found = found[np.argsort(np.abs(found))]
    assert np.allclose(np.abs(found), link.own_frequencies(), rtol=1e-9)
    assert np.allclose(-found.real / np.abs(found), ratios, atol=1e-9)
    same = FlexibleLink(THICK, **given, modal_damping=0.02).damping_matrix()
    assert np.allclose(same, FlexibleLink(THICK, **given, modal_damping=[0.02] * 5).damping_matrix())


def test_rayleigh_damping() -> None:
    link = FlexibleLink(THICK, modes.hermite(), torsion=modes.sine(1), rayleigh=(0.3, 2e-4))
    wanted = 0.3 * modal_mass(link.inertia()) + 2e-4 * link.inertia().stiffness
    assert np.abs(link.damping_matrix() - wanted).max() < 1e-15 * np.abs(wanted).max()
    assert not FlexibleLink(THICK, modes.hermite()).damping_matrix().any()


# What a link is made of.


def test_names_and_integrals() -> None:
    given = {"torsion": modes.sine(1), "bending_z": modes.hermite(), "bending_y": modes.clamped_free(1)}
    link = FlexibleLink(THICK, extension=modes.linear(), **given)
    assert link.mode_names == ("y1", "z1", "z2", "x1", "t1")
    assert link.length == LENGTH
    assert link.inertia() is link.inertia()
    wanted = integrals.beam_inertia(THICK, given | {"extension": modes.linear()})
    for f in fields(wanted):
        assert np.array_equal(getattr(link.inertia(), f.name), getattr(wanted, f.name))
    again = pickle.loads(pickle.dumps(link))
    assert np.array_equal(again.inertia().second, wanted.second)
    assert again.mode_names == link.mode_names


def test_stations() -> None:
    given = {"bending_y": modes.clamped_free(2), "torsion": modes.sine(1)}
    link, body = FlexibleLink(THICK, **given), np.diag([1.0, 2, 3, 4])
    for where, eta in (("tip", LENGTH), (LENGTH, LENGTH), (0.4, 0.4)):
        found, wanted = link.station(where, body), integrals.beam_station(THICK, given, eta, body)
        for f in fields(wanted):
            assert np.array_equal(getattr(found, f.name), getattr(wanted, f.name))
    for where in ("root", 0, 0.0):
        found = link.station(where, body)
        assert np.array_equal(found.body, body)
        assert found.translation.shape == found.rotation.shape == (3, 3)
        assert not found.translation.any()
        assert not found.rotation.any()
        assert not found.position.any()


@pytest.mark.parametrize("made_of", ["beam", "nodes"])
def test_the_tip_is_met_to_rounding(made_of: str) -> None:
    """An abscissa beyond the tip by less than 1e-12 of the length is the tip; one that is farther off is refused."""
    given = FlexibleLink(LINE, modes.hermite()) if made_of == "beam" else FlexibleLink(nodes())
    near, far = (given.length * (1 + beyond) for beyond in (5e-13, 5e-12))
    found, wanted = given.station(near), given.station("tip")
    for f in fields(wanted):
        assert np.allclose(getattr(found, f.name), getattr(wanted, f.name), rtol=TIGHT, atol=TIGHT)
    assert replace(given, children={"tool": near}).children == {"tool": near}
    with pytest.raises(ArgumentError, match="does not lie on the"):
        given.station(far)
    with pytest.raises(ArgumentError, match="does not lie on the"):
        replace(given, children={"tool": far})


def test_foreshortening_can_be_left_out() -> None:
    link = FlexibleLink(THICK, modes.hermite(), foreshortening=False)
    assert not link.inertia().shortening.any()
    assert not link.station("tip").shortening.any()
    assert FlexibleLink(THICK, modes.hermite()).station("tip").shortening.any()


def test_modes_by_role() -> None:
    """Static shapes and two interior modes under a load, the exact ones of a bare beam without; where it can bend."""
    link = FlexibleLink(LINE, modal_damping=0.01, children={"tool": "tip"})
    assert not link.has_modes
    loaded, bare = link.by_role(carries=True), link.by_role(carries=False)
    assert loaded.families == {"bending_y": modes.craig_bampton(2), "bending_z": modes.craig_bampton(2)}
    assert bare.families == {"bending_y": modes.clamped_free(4), "bending_z": modes.clamped_free(4)}
    assert loaded.children == {"tool": "tip"}
    assert loaded.modal_damping == 0.01
    for lost, left in (("EI_y", "bending_y"), ("EI_z", "bending_z")):
        planar = FlexibleLink(replace(LINE, **{lost: None})).by_role(carries=True)
        assert list(planar.families) == [left]
        asked = FlexibleLink(LINE, **{"bending_z" if lost == "EI_y" else "bending_y": None}).by_role(carries=True)
        assert list(asked.families) == [left]
    own = FlexibleLink(LINE, modes.hermite())
    assert own.by_role(carries=False) is own
    with pytest.raises(ArgumentError, match="it may bend in no direction; give a set of modes"):
        FlexibleLink(LINE, None, None).by_role(carries=True)
    assert own.with_modes(bending_y=None, bending_z=modes.hermite()).mode_names == ("z1", "z2")
    with pytest.raises(ArgumentError, match="neither EI_y nor EI_z"):
        FlexibleLink(Beam(1, 1)).by_role(carries=True)
    for ask in (link.inertia, lambda: link.station("tip"), link.damping_matrix, link.own_frequencies):
        with pytest.raises(ArgumentError, match=r"modes are chosen by its role in an arm; .* or ask by_role"):
            ask()


def nodes(**changes: object) -> Nodes:
    given = {
        "masses": [1.0, 2.0],
        "positions": [[0.5, 0, 0], [1, 0.2, 0]],
        "translations": [[[0, 1, 0], [0, 2, 0]]],
        "rotations": [[[0, 0, 2.5], [0, 0, 3]]],
        "stiffness": [[4.0]],
        "shortening": [[[0.1, 0.3]]],
    }
    return Nodes(**(given | changes))


def test_nodes() -> None:
    link = FlexibleLink(nodes(), children={"tool": 0.6})
    assert link.mode_names == ("f1",)
    assert link.length == 1.0
    assert link.has_modes
    assert link.by_role(carries=True) is link
    assert np.allclose(link.own_frequencies(), np.sqrt(4 / 9))
    tip, between = link.station("tip"), link.station(0.6)  # the nearest nodes
    assert np.allclose(tip.position, [1, 0.2, 0])
    assert np.allclose(tip.to_axis(1.0)[:3, 3], [0, -0.2, 0])
    assert np.allclose(tip.translation.T, [[0, 2, 0]])
    assert np.allclose(tip.rotation.T, [[0, 0, 3]])
    assert np.allclose(tip.shortening, [[0.3]])
    assert np.allclose(between.position, [0.5, 0, 0])
    assert np.allclose(between.translation.T, [[0, 1, 0]])
    assert not link.station("root").translation.any()
    assert link.inertia().shortening.any()
    stretched = FlexibleLink(nodes(), foreshortening=False)
    assert not stretched.inertia().shortening.any()
    assert not stretched.station("tip").shortening.any()


def test_bodies() -> None:
    """J holds m, m c and ∫ x xᵀ; hub and tip body do not enter the integrals, which are the bare link's."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        body = random_inertia(rng)
        j, m, c = pseudo_inertia_of(body), body.mass, body.lever
        about_origin = body.inertia + m * (c @ c * np.eye(3) - np.outer(c, c))
        assert np.abs(np.trace(j[:3, :3]) * np.eye(3) - j[:3, :3] - about_origin).max() < 1e-13
        assert np.abs(j[3] - [*(m * c), m]).max() < 1e-13
    link = FlexibleLink(LINE, modes.hermite(), hub=body, tip_body=body)
    bare = FlexibleLink(LINE, modes.hermite())
    assert np.array_equal(link.inertia().rigid, bare.inertia().rigid)
    assert np.array_equal(link.station("tip").body, np.zeros((4, 4)))
    assert link.hub is body


def test_root() -> None:
    at = placement(np.random.default_rng(1))
    for given in (at, at.homogeneous, at.homogeneous.tolist()):
        link = FlexibleLink(LINE, modes.hermite(), root=given)
        assert np.allclose(link.root, at.homogeneous, rtol=0, atol=1e-15)
    assert FlexibleLink(LINE).root is None


def test_axes_of_a_root_are_orthonormal_to_rounding() -> None:
    """To 1e-9, of numbers that were printed; half of that is taken, five times as much is refused."""
    for sign in (1, -1):
        near, far = (np.eye(4) + sign * off / 2 * np.diag([1.0, 0, 0, 0]) for off in (5e-10, 5e-9))
        assert np.array_equal(FlexibleLink(LINE, root=near).root, near)
        with pytest.raises(ArgumentError, match=r"not orthonormal: n·n is [01]\.\d{7,}, not 1"):
            FlexibleLink(LINE, root=far)


def test_children_are_a_copy() -> None:
    given = {"elbow": "tip", "camera": 0.4, "box": "root"}
    link = FlexibleLink(LINE, modes.hermite(), children=given)
    given["elbow"] = "nowhere"
    assert link.children == {"elbow": "tip", "camera": 0.4, "box": "root"}
    assert FlexibleLink(LINE, children=None).children == {}


# What is refused, and what is warned about.


def test_a_set_that_leaves_the_tip_is_warned_about() -> None:
    with pytest.warns(
        TipWarning, match=r"^bending_z: clamped-clamped 1, clamped-clamped 2 neither shift nor turn"
    ) as told:
        FlexibleLink(LINE, modes.hermite(), modes.clamped_clamped(2))
    assert len(told) == 1
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FlexibleLink(LINE, modes.craig_bampton(2), modes.clamped_free(1))


def test_torsion_without_inertia_of_its_own() -> None:
    """Whether something on the link moves with it, the arm knows; frequencies and damping of the link alone need it."""
    one = modes.sine(1)
    body = pin.Inertia(1.0, np.zeros(3), np.diag([0.1, 0.1, 0.1]))
    alone = FlexibleLink(LINE, torsion=one)
    with pytest.raises(ArgumentError, match=r"mode 1 moves no inertia of its own, .* section_inertia"):
        alone.own_frequencies()
    loaded = alone.own_frequencies(alone.station("tip", pseudo_inertia_of(body)))
    # one mode of a weightless bar with the inertia on its tip: K_f = GJ (π/2l)² l/2
    assert loaded[0] == pytest.approx(np.sqrt(GJ * np.pi**2 / (8 * LENGTH) / 0.1), rel=1e-13, abs=0)
    with pytest.raises(ArgumentError, match=r"damp by rayleigh="):
        FlexibleLink(LINE, torsion=one, tip_body=body, modal_damping=0.01)
    FlexibleLink(LINE, torsion=one, tip_body=body, rayleigh=(0, 1e-3))


def test_a_beam_without_length() -> None:
    """Modes and children are kept for the arm; nothing is known before."""
    waiting = FlexibleLink(replace(LINE, length=None), modes.hermite(), to="tool", children={"box": 1.1})
    assert not waiting.has_length
    assert not waiting.has_modes
    assert waiting.mode_names == ("y1", "y2")
    found, wanted = waiting.with_length(LENGTH), FlexibleLink(LINE, modes.hermite())
    assert found.to == "tool"
    assert np.array_equal(found.inertia().second, wanted.inertia().second)
    for ask in (waiting.inertia, lambda: waiting.station("tip"), waiting.damping_matrix, waiting.own_frequencies):
        with pytest.raises(ArgumentError, match=r"^FlexibleLink: its beam has no length before an arm gives it one; g"):
            ask()
    with pytest.raises(ArgumentError, match=r"children\['box'\]: 1.1 m does not lie on the link, which is 1 m long"):
        waiting.with_length(1.0)
    chosen = FlexibleLink(replace(LINE, length=None)).by_role(carries=True)
    assert chosen.families == {"bending_y": modes.craig_bampton(2), "bending_z": modes.craig_bampton(2)}
    points = FlexibleLink(nodes())
    assert points.with_length(3.0) is points


def link(**options: object) -> FlexibleLink:
    return FlexibleLink(LINE, modes.hermite(), **options)


TURNED = np.diag([1.0, 1, -1, 1])
SKEWED = np.eye(4) + 1e-3 * np.eye(4)[[1, 0, 2, 3]] * [[1], [0], [0], [0]]


def body(**changes: object) -> pin.Inertia:
    """A body with numbers that its constructor would refuse."""
    made = pin.Inertia(1.0, np.zeros(3), np.eye(3))
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: FlexibleLink(1.0), ArgumentTypeError, r"FlexibleLink: expected a Beam or Nodes, got 1.0"),
        (lambda: FlexibleLink(LINE, 2), ArgumentTypeError, r"bending_y: expected a set of gdalembert.modes, got 2"),
        (lambda: FlexibleLink(LINE, modes.sine(1)), ArgumentError, r"bending_y: mode 1 \(sine 1\) has the slope"),
        (lambda: FlexibleLink(LINE, modes.hermite() + modes.hermite()), ArgumentError, r"mode 3 .* is a combination"),
        (lambda: FlexibleLink(Beam(1, 1), modes.hermite()), ArgumentError, r"EI_z is needed for these modes"),
        (lambda: FlexibleLink(nodes(), modes.hermite()), ArgumentError, r"bending_y: Nodes bring their own modes"),
        (lambda: FlexibleLink(nodes(rotations=None), children={"a": "tip"}), ArgumentError, "give its rotations"),
        (lambda: FlexibleLink(nodes()).station(1.1), ArgumentError, r"1.1 m does not lie on the link, .* 1 m long"),
        (lambda: link(foreshortening=1), ArgumentTypeError, r"foreshortening: expected True or False, got 1"),
        (lambda: link(keep_body="yes"), ArgumentTypeError, r"keep_body: expected True or False, got 'yes'"),
        (lambda: link(to=3), ArgumentTypeError, r"to: expected the name of a joint or frame, got 3"),
        (lambda: link(hub=2.0), ArgumentTypeError, r"hub: expected a pin.Inertia, got 2.0"),
        (
            lambda: link(tip_body=body(inertia=np.diag([-0.1, 0.1, 0.1]))),
            ArgumentError,
            r"tip_body: .* least principal moment -0.1 kg m²",
        ),
        (lambda: link(hub=body(mass=-1.0)), ArgumentError, r"hub: its mass is -1 kg"),
        (lambda: link(hub=body(mass=np.nan)), ArgumentError, r"hub: a number is not finite"),
        (lambda: link(root="here"), ArgumentTypeError, r"root: expected a pin.SE3 or 4 × 4 numbers, got 'here'"),
        (lambda: link(root=np.eye(3)), ArgumentError, r"root: got numbers of shape \(3, 3\)"),
        (
            lambda: link(root=np.full((4, 4), np.nan)),
            ArgumentError,
            r"root: entry \[0, 0\] is nan; give",
        ),
        (
            lambda: link(root=np.ones((4, 4))),
            ArgumentError,
            r"root: its last row is \[1.0, 1.0, 1.0, 1.0\], not",
        ),
        (lambda: link(root=TURNED), ArgumentError, r"root: its columns n, o, a are left-handed"),
        (
            lambda: link(root=SKEWED),
            ArgumentError,
            r"root: its columns .* not orthonormal: n·. is .*001.*, not",
        ),
        (lambda: link(children=["elbow"]), ArgumentTypeError, r"children: expected \{name: 'root', 'tip' or an"),
        (lambda: link(children={3: "tip"}), ArgumentTypeError, r"children: expected names, got 3"),
        (lambda: link(children={"elbow": "end"}), ArgumentError, r"children\['elbow'\]: got 'end'; give 'root', 'tip'"),
        (lambda: link(children={"elbow": 1.31}), ArgumentError, r"children\['elbow'\]: 1.31 m does not lie .* 1.3 m l"),
        (lambda: link(children={"elbow": -0.1}), ArgumentError, r"children\['elbow'\]: got -0.1"),
        (lambda: link(children={"elbow": None}), ArgumentTypeError, r"children\['elbow'\]: expected a number \[m\]"),
        (lambda: link(modal_damping=-0.1), ArgumentError, r"modal_damping: got -0.1"),
        (lambda: link(modal_damping="some"), ArgumentTypeError, r"modal_damping: expected a number, got 'some'"),
        (lambda: link(modal_damping=(0.1, -1.0)), ArgumentError, r"modal_damping\[1\]: got -1.0"),
        (lambda: link(modal_damping=(0.1,) * 3), ArgumentError, r"got 3 ratios; give one, or one for each of the 2 m"),
        (lambda: link(rayleigh=0.1), ArgumentTypeError, r"rayleigh: got 0.1; give \(α \[1/s\], β \[s\]\)"),
        (lambda: link(rayleigh=(0.1, -1)), ArgumentError, r"rayleigh β: got -1"),
        (lambda: link(rayleigh=(0, 0), modal_damping=0), ArgumentError, r"got modal_damping and rayleigh; give one"),
        (lambda: link().station("middle"), ArgumentError, r"station: got 'middle'; give 'root', 'tip' or an abscissa"),
        (lambda: link().station(1.4), ArgumentError, r"station: 1.4 m does not lie on the link"),
        (lambda: link().station(None), ArgumentTypeError, r"station: expected a number \[m\], got None"),
    ],
)
def test_bad_input(make: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
