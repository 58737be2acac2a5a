"""The search for link frames: what it may choose from, that its choice is the cheapest, and that it changes nothing."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pinocchio as pin
import pytest

import gdalembert as gd
from benchmarks.common import robots
from gdalembert.model import link_frames
from gdalembert.model.from_pinocchio import read_tree
from gdalembert.model.joints import Helical, JointType, Prismatic, Revolute
from gdalembert.model.link_frames import AS_GIVEN, LinkFrame, choose, placed
from gdalembert.model.link_frames import LinkGeometry as Link
from gdalembert.model.regrouping import aligned, regrouped
from gdalembert.spatial.algebra import transform
from tests.helpers.models import Rng, placement
from tests.helpers.sets import quick, with_extras

Array = np.ndarray

TURN, SLIDE, SCREW = Revolute((0, 0, 1)), Prismatic((0, 0, 1)), Helical((0, 0, 1), 0.3)
TILTS = (1e-3, 1e-6, 1e-9, 1e-13)


def homogeneous(rotation: Array, translation: Sequence[float] | Array) -> Array:
    return transform(rotation, np.asarray(translation)).full()


def tilted(angle: float, translation: Sequence[float] | Array, about: float = 0.4) -> Array:
    """A placement whose z leans by an angle, towards a generic direction."""
    return homogeneous(pin.rpy.rpyToMatrix(0, 0, about) @ pin.rpy.rpyToMatrix(angle, 0, 1.1), translation)


def body(rng: Rng) -> Array:
    """A pseudo-inertia as regrouping leaves it on a link that turns: neither m nor h_z nor J_zz."""
    b = rng.normal(size=(4, 4))
    full = b @ b.T
    full[2:, 2:] = 0
    return full


def simple_placement(rng: Rng) -> Array:
    """Parallel, antiparallel, perpendicular, slanted or generic axes; coordinates that are zero half of the time."""
    turns = [(0, 0, 0), (0, 0, 0.3), (np.pi, 0, 0), (np.pi / 2, 0, 0.2), (0.7, 0, 0), tuple(rng.normal(size=3))]
    rotation = pin.rpy.rpyToMatrix(*turns[rng.integers(len(turns))])
    return homogeneous(np.where(np.abs(rotation) < 1e-15, 0, rotation), rng.normal(size=3) * rng.integers(0, 2, size=3))


def chain(placements: Sequence[Array], rng: Rng, *, kinds: Sequence[JointType] | None = None) -> list[Link]:
    kinds = kinds or [TURN] * len(placements)
    return [Link(k - 1, kind, at, body(rng)) for k, (kind, at) in enumerate(zip(kinds, placements, strict=True))]


def random_links(seed: int, number: int) -> list[Link]:
    """A random tree, most of whose links turn."""
    rng = np.random.default_rng(seed)
    kinds = [TURN, TURN, TURN, TURN, SLIDE, SCREW]
    return [
        Link(int(rng.integers(max(-1, k - 2), k)), kinds[rng.integers(len(kinds))], simple_placement(rng), body(rng))
        for k in range(number)
    ]


def children_of(links: Sequence[Link]) -> list[list[int]]:
    return [[k for k, link in enumerate(links) if link.parent == i] for i in range(len(links))]


def candidates_of(links: Sequence[Link]) -> list[list[LinkFrame]]:
    children = children_of(links)
    feet = link_frames._feet(links, children)
    return [
        link_frames._candidates(link, [links[c] for c in children[i]], feet[i]) if link.turns else [AS_GIVEN]
        for i, link in enumerate(links)
    ]


def feet_of(links: Sequence[Link]) -> list[Array]:
    return [np.array(feet) for feet in link_frames._feet(links, children_of(links))]


def recomposed(fixed: Array, angle: float) -> Array:
    return fixed @ LinkFrame(angle=angle).matrix


def nearest_to(line: Array) -> float:
    """The point of the z axis (as z) nearest to the z axis of a placement."""
    z, p = line[:3, 2], line[:3, 3]
    (slide, _), *_ = np.linalg.lstsq(np.column_stack([[0, 0, 1], -z]), p, rcond=None)
    return float(slide)


def robot_links(name: str) -> list[Link]:
    return regrouped(aligned(read_tree(robots.load(name))))


def test_a_link_frame_is_on_the_axis() -> None:
    own = LinkFrame(slide=0.7, angle=0.4)
    frame = homogeneous(pin.rpy.rpyToMatrix(0, 0, 0.4), (0, 0, 0.7))
    assert np.abs(own.matrix - frame).max() < 1e-16
    assert np.abs(own.inverse @ frame - np.eye(4)).max() < 1e-15
    link = Link(-1, TURN, np.eye(4), body(np.random.default_rng(0)))
    assert np.allclose(frame @ own.body(link) @ frame.T, link.body, rtol=0, atol=1e-14)
    assert np.array_equal(AS_GIVEN.matrix, np.eye(4))


# Feet.


@pytest.mark.parametrize("seed", range(4))
def test_feet_are_projections_and_ends_of_common_normals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = [homogeneous(at.rotation, at.translation) for at in (placement(rng) for _ in range(4))]
    links = [Link(parent, TURN, at, body(rng)) for parent, at in zip((-1, 0, 1, 1), places, strict=True)]
    feet = feet_of(links)
    parent_origin = np.linalg.inv(places[1])[2, 3]
    expected = [0, parent_origin, *(foot for at in places[2:] for foot in (at[2, 3], nearest_to(at)))]
    assert np.allclose(np.sort(feet[1]), np.sort(expected), rtol=0, atol=1e-13)
    assert np.allclose(np.sort(feet[3]), np.sort([0, np.linalg.inv(places[3])[2, 3]]), rtol=0, atol=1e-13)


def test_parallel_axes_share_their_feet() -> None:
    rng = np.random.default_rng(1)
    across = simple_placement(rng)
    heights = (0.1, -0.4, 0.9)
    parallel = [homogeneous(np.eye(3), (x, 1 - x, height)) for x, height in zip((0.3, 0.5, 0.8), heights, strict=True)]
    links = chain([across, tilted(1.0, (1, 2, 3)), *parallel, tilted(0.8, (0.2, 0.3, 0.5))], rng)
    feet = feet_of(links)
    above = np.cumsum([0, *heights])  # of the origins of links 1 to 4
    shared = [set(np.round(feet[k + 1] + above[k], 12)) for k in range(4)]
    assert all(s == shared[0] for s in shared)
    own = {0.0, nearest_to(links[5].placement) + above[3], -links[1].placement[:3, 2] @ links[1].placement[:3, 3]}
    assert set(np.round(list(own), 12)) <= shared[0]


@pytest.mark.parametrize("sense", [1, -1])
def test_only_axes_that_point_the_same_way_are_parallel(sense: int) -> None:
    at = homogeneous(np.diag([1.0, sense, sense]), (0, 0, 0))
    assert Link(0, TURN, at, np.zeros((4, 4))).parallel == (sense == 1)
    assert not Link(0, TURN, tilted(1e-12, (0, 0, 0)), np.zeros((4, 4))).parallel


# Candidates.


def leaf(seed: int) -> list[Link]:
    rng = np.random.default_rng(seed)
    return chain([tilted(0.9, rng.normal(size=3)), tilted(0.6, 3 * rng.normal(size=3))], rng)


@pytest.mark.parametrize("entries", [[(0, 1)], [(0, 2)], [(1, 2)], [(0, 3), (1, 3)]], ids=str)
def test_each_constant_of_a_leaf_can_be_made_zero(entries: list[tuple[int, int]]) -> None:
    for seed in range(5):
        links = leaf(seed)
        j = links[1].body
        j[:2, 2] *= 0.1  # so that the origins where J_xz and J_yz are zero are near
        links[1].body[2, :2] = j[:2, 2]
        assert any(own.body(links[1])[entry] == 0 for own in candidates_of(links)[1] for entry in entries)


def test_x_can_be_the_common_normal_or_lead_to_a_parallel_axis() -> None:
    rng = np.random.default_rng(2)
    slanted = tilted(0.6, (0.4, 0.3, 0.2))
    parallel = homogeneous(pin.rpy.rpyToMatrix(0, 0, 0.5), (0.4, 0.3, 0.2))
    for child, constants in ((slanted, (0, 2)), (slanted, (1, 2)), (parallel, (0, 3)), (parallel, (1, 3))):
        links = chain([np.eye(4), child, np.eye(4)], rng)
        found = [own.inverse @ child for own in candidates_of(links)[0]]
        # to a quarter turn: it is zero, or it is all there is of its row's and the other's length
        k, column = constants
        assert any(min(abs(at[k, column]), abs(at[1 - k, column])) < 1e-15 for at in found)


def test_the_first_candidate_is_the_given_frame() -> None:
    for seed in range(20):
        for link, own in zip(links := random_links(seed, 6), candidates_of(links), strict=True):
            assert (own[0].slide, own[0].angle) == (0, 0)
            assert link.turns or own == [AS_GIVEN]


def test_angles_are_within_an_eighth_of_a_turn_and_no_two_candidates_alike() -> None:
    for seed in range(20):
        for own in candidates_of(random_links(seed, 6)):
            assert max(abs(g.angle) for g in own) <= np.pi / 4
            for a, b in itertools.combinations(own, 2):
                assert abs(a.angle - b.angle) > 1e-9 or abs(a.slide - b.slide) > 1e-9


def test_a_link_keeps_axes_exactly_if_all_its_children_turn_about_parallel_ones() -> None:
    rng = np.random.default_rng(3)
    parallel = homogeneous(pin.rpy.rpyToMatrix(0, 0, 0.3), (1, 2, 3))
    opposite = homogeneous(np.diag([1.0, -1, -1]), (1, 2, 3))
    for children, keeps in (
        ([], True),
        ([(TURN, parallel)], True),
        ([(TURN, parallel), (TURN, parallel)], True),
        ([(TURN, parallel), (TURN, tilted(1e-9, (1, 0, 0)))], False),
        ([(TURN, opposite)], False),
        ([(SLIDE, parallel)], False),
        ([(SCREW, parallel), (TURN, parallel)], False),
    ):
        links = [
            Link(-1, TURN, np.eye(4), body(rng)),
            *(Link(0, kind, at, body(rng)) for kind, at in children),
        ]
        assert {own.keeps_joint_axes for own in candidates_of(links)[0]} == {keeps}
        assert choose(links)[0].keeps_joint_axes == keeps


@pytest.mark.parametrize("tilt", TILTS)
def test_axes_that_are_almost_parallel_do_not_send_an_origin_far_away(tilt: float) -> None:
    rng = np.random.default_rng(4)
    links = chain([np.eye(4), *(tilted(tilt, rng.uniform(-1, 1, size=3), about=k) for k in range(4))], rng)
    below = [*links[1:], links[-1]]
    for link, child, own, chosen in zip(links, below, candidates_of(links), choose(links), strict=True):
        lengths = max(np.abs(x.placement[:3, 3]).max() for x in (link, child))
        assert max(abs(g.slide) for g in own) <= 4 * lengths
        assert abs(chosen.slide) <= 4 * lengths


@pytest.mark.parametrize("power", [-10, 10])
def test_the_choice_does_not_depend_on_the_unit_of_length(power: int) -> None:
    """A power of two changes no digit."""
    scale = 2.0**power
    to_unit = np.diag([scale, scale, scale, 1])
    for links in (random_links(5, 8), robot_links("panda7")):
        scaled = [
            Link(x.parent, x.type, to_unit @ x.placement @ np.linalg.inv(to_unit), to_unit @ x.body @ to_unit)
            for x in links
        ]
        expected = [LinkFrame(own.slide * scale, own.angle, own.keeps_joint_axes) for own in choose(links)]
        assert choose(scaled) == expected


# The number of candidates and of what is tried.


def parallel_chain(number: int) -> list[Link]:
    rng = np.random.default_rng(number)
    return chain([homogeneous(np.eye(3), rng.normal(size=3)) for _ in range(number)], rng)


def star(number: int) -> list[Link]:
    rng = np.random.default_rng(number)
    places = [simple_placement(rng) for _ in range(number)]
    return [Link(-1, TURN, np.eye(4), body(rng)), *(Link(0, TURN, at, body(rng)) for at in places)]


def skew_chain(number: int) -> list[Link]:
    return regrouped(aligned(read_tree(robots.chain(number))))


SHAPES = {"skew": skew_chain, "parallel": parallel_chain, "star": star}


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_there_are_few_candidates(shape: str) -> None:
    for own in candidates_of(SHAPES[shape](30)):
        assert 1 <= len(own) <= 12


@pytest.mark.parametrize("shape", quick(sorted(SHAPES), "parallel"))
def test_what_is_tried_grows_no_faster_than_the_robot(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    original = link_frames._placement_cost

    def counted(*arguments: object) -> float:
        tried.append(1)
        return original(*arguments)

    monkeypatch.setattr(link_frames, "_placement_cost", counted)
    for number in (10, 20, 40):
        tried.clear()
        links = SHAPES[shape](number)
        choose(links)
        assert len(tried) <= 144 * len(links)


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_feet_are_few(shape: str) -> None:
    small, large = (sum(map(len, feet_of(SHAPES[shape](number)))) for number in (20, 80))
    assert large <= 6 * small


# The cost.


def total_cost(links: Sequence[Link], frames: Sequence[LinkFrame]) -> float:
    outward = [sum(i in path_of(links, k) for k in range(len(links))) for i in range(len(links))]
    return sum(
        link_frames._body_cost(link, own)
        + link_frames._placement_cost(
            link, 10 + 2 * outward[i], frames[link.parent] if link.parent >= 0 else AS_GIVEN, own
        )
        for i, (link, own) in enumerate(zip(links, frames, strict=True))
    )


def path_of(links: Sequence[Link], index: int) -> list[int]:
    path = []
    while index >= 0:
        path.append(index)
        index = links[index].parent
    return path


def least_cost(links: Sequence[Link]) -> float:
    """By trying every combination of candidates."""
    own = candidates_of(links)
    outward = [sum(i in path_of(links, k) for k in range(len(links))) for i in range(len(links))]
    pairs: list[Array] = []
    for i, link in enumerate(links):
        above = own[link.parent] if link.parent >= 0 else [AS_GIVEN]
        cost = [[link_frames._placement_cost(link, 10 + 2 * outward[i], a, b) for b in own[i]] for a in above]
        pairs.append(np.array(cost) + [link_frames._body_cost(link, b) for b in own[i]])
    total = np.zeros([len(c) for c in own])
    for i, link in enumerate(links):
        shape = [1] * len(links)
        shape[i] = len(own[i])
        if link.parent >= 0:
            shape[link.parent] = len(own[link.parent])
        total = total + pairs[i].reshape(shape)
    return float(total.min())


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_choice_is_the_cheapest_of_all_combinations(number: int) -> None:
    for seed in range(12):
        links = random_links(100 * number + seed, number)
        chosen = choose(links)
        assert all(own in of for own, of in zip(chosen, candidates_of(links), strict=True))
        assert total_cost(links, chosen) == pytest.approx(least_cost(links), abs=1e-9)


@pytest.mark.parametrize("name", ["puma560_benchmark", *with_extras(["ur5"])])
def test_the_choice_for_an_arm_is_the_cheapest_of_all_combinations(name: str) -> None:
    links = robot_links(name)
    assert total_cost(links, choose(links)) == least_cost(links)


def test_zeros_are_cheaper() -> None:
    """Every constant that is zero saves operations, wherever it stands."""
    full = body(np.random.default_rng(6))
    at = tilted(0.6, (0.4, 0.3, 0.2))
    for turning, keeps in itertools.product((TURN, SLIDE), (False, True)):
        own = LinkFrame(keeps_joint_axes=keeps)
        link = Link(0, turning, at, full)
        for entries in (((0, 3),), ((0, 3), (1, 3)), ((0, 1),), ((0, 2), (1, 2))):
            fewer = full.copy()
            for i, j in entries:
                fewer[i, j] = fewer[j, i] = 0
            assert link_frames._body_cost(Link(0, turning, at, fewer), own) < link_frames._body_cost(link, own)
        for above in (AS_GIVEN, LinkFrame(keeps_joint_axes=True)):
            expensive = link_frames._placement_cost(link, 10, above, own)
            for zeros in ([0], [2], [0, 1], [0, 1, 2]):
                nearer = at.copy()
                nearer[zeros, 3] = 0
                assert link_frames._placement_cost(Link(0, turning, nearer, full), 10, above, own) < expensive
            assert link_frames._placement_cost(link, 20, above, own) > expensive
            straight = homogeneous(np.eye(3), at[:3, 3])
            assert link_frames._placement_cost(Link(0, turning, straight, full), 10, above, own) < expensive
            assert link_frames._placement_cost(Link(-1, turning, at, full), 10, above, own) == 0
    assert link_frames._body_cost(Link(-1, TURN, at, full), AS_GIVEN) == 0 < link_frames._body_cost(link, AS_GIVEN)


def test_a_turn_that_is_not_taken_part_in_is_cheaper_and_an_offset_costs() -> None:
    link = Link(0, TURN, homogeneous(np.eye(3), (1, 0, 0)), np.zeros((4, 4)))
    turning, kept = (
        link_frames._placement_cost(link, 10, AS_GIVEN, LinkFrame(keeps_joint_axes=keeps)) for keeps in (False, True)
    )
    assert kept < turning
    assert link_frames._placement_cost(link, 10, AS_GIVEN, LinkFrame(angle=0.3)) > turning


@pytest.mark.parametrize("name", with_extras(["ur5", "panda", "solo12"]))
def test_the_choice_is_worth_it(name: str) -> None:
    """Compared with frames as they are given, which keep axes where they can."""
    links = robot_links(name)
    as_given = [own[0] for own in candidates_of(links)]
    assert total_cost(links, choose(links)) < 0.9 * total_cost(links, as_given)


@pytest.mark.extras
def test_the_choice_is_the_same_every_time() -> None:
    for links in (random_links(7, 12), robot_links("solo12")):
        assert choose(links) == choose(list(links))
    one, other = (gd.NewtonEuler(robots.load("solo12"))._prepared for _ in range(2))
    assert one == other


# Placement between frames.


@pytest.mark.parametrize("kind", [TURN, SLIDE])
@pytest.mark.parametrize("tilt", [*TILTS, 0.0, np.pi, np.pi / 2, 0.8])
def test_placements_are_exact(tilt: float, kind: JointType) -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        above, own = (LinkFrame(*rng.normal(size=2)) for _ in range(2))
        link = Link(0, kind, tilted(tilt, rng.normal(size=3), about=rng.normal()), np.zeros((4, 4)))
        fixed, angle = placed(above, link, own)
        truth = np.linalg.inv(above.matrix) @ link.placement @ own.matrix
        assert np.abs(recomposed(fixed, angle) - truth).max() < 1e-14
        assert kind is TURN or angle == 0
        assert kind is not TURN or fixed[2, 0] == 0  # x is normal to the parent's z
        assert np.abs(fixed[:3, :3] @ fixed[:3, :3].T - np.eye(3)).max() < 1e-15


def test_placements_of_parallel_axes_leave_no_rotation() -> None:
    for sense in (1, -1):
        at = homogeneous(pin.rpy.rpyToMatrix(0, 0, 0.4) @ np.diag([1.0, sense, sense]), (1, 2, 3))
        fixed, angle = placed(LinkFrame(0.5, 0.2), Link(0, TURN, at, np.zeros((4, 4))), LinkFrame(-0.3, 0.7))
        assert np.array_equal(fixed[:3, :3], np.diag([1, sense, sense]))
        assert angle == pytest.approx(0.7 + sense * 0.2)


def test_placements_by_quarter_turns_are_left_as_they_are() -> None:
    for axes in itertools.permutations(range(3)):
        rotation = np.eye(3)[list(axes)]
        rotation = rotation * np.linalg.det(rotation)
        fixed, angle = placed(AS_GIVEN, Link(0, TURN, homogeneous(rotation, (1, 2, 3)), np.zeros((4, 4))), AS_GIVEN)
        assert np.array_equal(fixed, homogeneous(rotation, (1, 2, 3)))
        assert angle == 0


@pytest.mark.parametrize("name", ["panda7", *with_extras(["kinova", "talos"])])
def test_placements_of_robots_are_exact(name: str) -> None:
    links = robot_links(name)
    frames = choose(links)
    for link, own in zip(links, frames, strict=True):
        above = frames[link.parent] if link.parent >= 0 else AS_GIVEN
        fixed, angle = placed(above, link, own)
        truth = np.linalg.inv(above.matrix) @ link.placement @ own.matrix
        assert np.abs(recomposed(fixed, angle) - truth).max() < 1e-14
