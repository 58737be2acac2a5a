"""Samples, the torques as an affine function of the parameters, what is large for each, and the triangular factors.

    tau(q, v, a, p) = tau(q, v, a, p₀) + Y(q, v, a) (p − p₀)            Y = ∂tau/∂p, p₀ the nominal parameters

What is estimated is s = (p − p₀) / size, so that all columns have the unit of a torque. Least squares need no more of N
samples than the triangular factor R_j of [Y_j size | tau_j − tau_j(p₀)] for each entry j of tau: the residuals have the
norm ‖R_j (s, −1)‖ for every s, whatever N is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
import numpy.typing as npt

from gdalembert.dynamics.dynamics import Dynamics
from gdalembert.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from gdalembert.identification.signals import decimated
from gdalembert.model.configuration import check_unit_lengths, lengths, random_configuration, unit_blocks
from gdalembert.model.inertia import DYNAMIC_PARAMETERS, pseudo_inertia_of
from gdalembert.model.tree import Tree
from gdalembert.spatial.arguments import UNIT_ERROR, number, numbers
from gdalembert.spatial.arrays import Array, frozen
from gdalembert.spatial.functions import BatchFunction, function

_AT_ONCE = 4096
"""Samples that are evaluated in one call: bounds the memory."""
_RANDOM_STATES = 200
_AFFINE = 1e-9
"""Relative change of a column of Y between two values of p, below which it is rounding."""
_NOT_NEGATIVE = ("m", "armature", "viscous", "coulomb", "stiffness", "damping")
"""Parameters that no robot has below 0."""
_PART = 0.1
"""Fraction of the nominal torques, which a parameter of its size makes alone, and of the mean link, below which a
nominal mass or length says nothing of its size."""
Bounds: TypeAlias = Mapping[str, tuple[float | None, float | None]]
"""Least and largest value by the name of a parameter; ``None`` for no limit."""
Prior: TypeAlias = Mapping[str, float | tuple[float, float]]
"""A value, or a value with its standard deviation, by the name of a parameter."""


@dataclass(frozen=True, eq=False)
class Samples:
    """A motion, its measured torques, and weights of squared residuals (N × nv): a row for each of N samples."""

    q: Array
    v: Array
    a: Array
    tau: Array
    weights: Array

    def __len__(self) -> int:
        return len(self.tau)

    def part(self, rows: slice | npt.NDArray[np.bool_]) -> Samples:
        """Some of the samples."""
        return Samples(*(each[rows] for each in vars(self).values()))

    def parts(self) -> Iterator[Samples]:
        """All of them, some thousand at a time."""
        return (self.part(slice(start, start + _AT_ONCE)) for start in range(0, len(self), _AT_ONCE))


def checked_samples(
    tree: Tree, q: Any, v: Any, a: Any, tau: Any, weights: Any = None, *, where: str = "fit"
) -> Samples:
    """The samples as arrays."""
    given = {"q": q, "v": v, "a": a, "tau": tau}
    for (name, value), width in zip(given.items(), (tree.nq, tree.nv, tree.nv, tree.nv), strict=True):
        given[name] = array = numbers(f"{where}: {name}", value, finite=False)
        if array.ndim != 2 or array.shape[1] != width or not len(array):
            raise ArgumentError(f"{where}: {name} has shape {array.shape}; give (N, {width}), one row for each sample")
    count = len(given["q"])
    for name, array in given.items():
        if len(array) != count:
            raise ArgumentError(f"{where}: q has {count} rows, {name} has {len(array)}; give one row for each sample")
        if len(wrong := np.argwhere(~np.isfinite(array))):
            row, column = (int(k) for k in wrong[0])
            raise ArgumentError(
                f"{where}: {name} is {array[row, column]} in row {row}, column {column}; leave that sample out"
            )
    off = np.abs(lengths(given["q"], unit_blocks(tree)) - 1) > UNIT_ERROR
    if off.any():
        row = int(off.any(axis=1).argmax())
        check_unit_lengths(f"{where}: row {row} of q: the part", given["q"][row], tree)
    of_rows = numbers(f"{where}: weights", 1.0 if weights is None else weights)
    if weights is not None and of_rows.shape not in ((count,), (count, tree.nv)):
        raise ArgumentError(f"{where}: weights has shape {of_rows.shape}; give ({count},) or ({count}, {tree.nv})")
    if np.any(of_rows < 0):
        row = int(np.argwhere(of_rows < 0)[0][0])
        raise ArgumentError(f"{where}: the weight of row {row} is negative: {of_rows[row].min():.6g}; give at least 0")
    of_rows = of_rows[:, None] if of_rows.ndim == 1 else of_rows
    return Samples(**given, weights=frozen(np.broadcast_to(of_rows, (count, tree.nv))))


def split(tree: Tree, samples: Samples, held_back: Any) -> tuple[Samples, Samples | None]:
    """The samples to fit, and those to predict: the last ones, a fraction of all, or others (q, v, a, tau)."""
    if held_back is None:
        return samples, None
    if isinstance(held_back, list | tuple) and len(held_back) == 4:
        return samples, checked_samples(tree, *held_back, where="fit: held_back")
    if isinstance(held_back, bool) or not isinstance(held_back, int | float | np.floating):
        raise ArgumentTypeError(
            f"fit: held_back: expected a fraction of the samples or (q, v, a, tau), got {type(held_back).__name__}"
        )
    count = round(held_back * len(samples)) if 0 < held_back < 1 else 0
    if not 0 < count < len(samples):
        raise ArgumentError(
            f"fit: held_back={held_back!r} of {len(samples)} samples leaves none to fit or none to predict; give a "
            "fraction between 0 and 1"
        )
    return samples.part(slice(0, len(samples) - count)), samples.part(slice(len(samples) - count, None))


class AffineTorque:
    """tau(p₀) and Y at many states, for the names and nominal values of parameters (n_p).

    ``random_states`` are some q, v and a, always the same. Another Y at another p is refused: for a graph of analytic
    functions this proves, but for a null set, that tau is affine in the parameters.
    """

    def __init__(self, dyn: Dynamics) -> None:
        self.names, self.nominal = tuple(dyn.parameters.names), np.array(dyn.parameters.values)
        self._dyn, tree = dyn, dyn.nominal
        self._batch = self._at(self.nominal)
        rng, other = np.random.default_rng(0), np.random.default_rng(1)
        q = np.array([random_configuration(tree, rng).full().ravel() for _ in range(_RANDOM_STATES)])
        v, a = (rng.normal(size=(_RANDOM_STATES, tree.nv)) for _ in range(2))
        self.random_states = q, v, a
        n, few = len(self.nominal), (q[:3], v[:3], a[:3])
        p = self.nominal * other.uniform(0.5, 1.5, n) + other.uniform(0.1, 1, n)
        here, there = self(*few)[0], self._at(p)(*few)[..., :-1]
        size = np.abs(here).max(axis=(0, 1), initial=0)
        moved = ~(np.abs(there - here).max(axis=(0, 1)) <= _AFFINE * np.maximum(1, size))
        if moved.any():
            wrong = [name for name, each in zip(self.names, moved, strict=True) if each]
            shown = ", ".join(map(repr, wrong[:4])) + (", …" if len(wrong) > 4 else "")
            if dyn.tree.has_displacements:
                raise ArgumentError(
                    f"fit: tau is not affine in {shown}: placements are found from measured poses; leave 'placement' "
                    "out of the parameters, and give the robot a model that has them"
                )
            raise ArgumentError(
                f"fit: tau is not affine in {shown}: products of parameters cannot be identified at once; free only "
                "some of them"
            )

    def _at(self, p: Array) -> BatchFunction:
        """(q, v, a) → ([Y | tau]) (nv × (n_p + 1)) at p."""
        s = {name: ca.SX.sym(name, self._dyn.inverse_dynamics.size1_in(name)) for name in ("q", "v", "a", "p")}
        tau = self._dyn.inverse_dynamics(*s.values())
        both = ca.substitute(ca.horzcat(ca.jacobian(tau, s["p"]), tau), s.pop("p"), ca.DM(p))
        return BatchFunction(function("regressor", s, {"Y_tau": both}), *both.shape)

    def __call__(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Y (N × nv × n_p) and tau(p₀) (N × nv)."""
        both = self._batch(q, v, a)
        return both[..., :-1], both[..., -1]

    def torque(self, samples: Samples, p: Array) -> Array:
        """tau (N × nv) with the parameters p."""
        known = (self(part.q, part.v, part.a) for part in samples.parts())
        return np.concatenate([nominal + y @ (p - self.nominal) for y, nominal in known])


@dataclass(frozen=True)
class Body:
    """The ten parameters of the body of a joint or frame, which have these indices in p, in Pinocchio's order.

    Its size [kg, m] is the nominal mass and radius of gyration about the origin; or those of the mean link, if they are
    less than a tenth of it: a placeholder in a data sheet tells no size.
    """

    name: str
    indices: tuple[int, ...]
    mass: float
    length: float

    @property
    def sizes(self) -> Array:
        """m, m l and m l²."""
        return self.mass * np.repeat([1.0, self.length, self.length**2], [1, 3, 6])

    def in_units(self, p: Array) -> Array:
        """The pseudo-inertia (4 × 4) of ten parameters, in units of its mass and length."""
        unit = np.diag([1 / self.length] * 3 + [1.0]) / np.sqrt(self.mass)
        return np.asarray(unit @ pseudo_inertia_of(ca.DM(p)).full() @ unit)


def element(name: str) -> str:
    """``"joint7"`` of ``"joint7.m"``."""
    return name.rpartition(".")[0]


def quantity(name: str) -> str:
    """``"m"`` of ``"joint7.m"``."""
    return name.rpartition(".")[2]


def bodies(names: tuple[str, ...], nominal: Array, tree: Tree) -> tuple[Body, ...]:
    """The bodies whose inertia is among the parameters."""
    place = {name: k for k, name in enumerate(names)}
    links = [joint.pseudo_inertia for joint in tree.joints if joint.pseudo_inertia[3, 3] > 0]
    known = [(j[3, 3], np.sqrt(np.trace(j[:3, :3]) / j[3, 3])) for j in links]
    mean_mass, mean_length = np.mean(known, axis=0) if known else (1.0, 1.0)
    found = []
    for name in dict.fromkeys(element(name) for name in names if quantity(name) == "Ixx"):
        indices = tuple(place[f"{name}.{each}"] for each in DYNAMIC_PARAMETERS)
        p = nominal[list(indices)]
        radius = np.sqrt(max((p[4] + p[6] + p[9]) / 2, 0) / p[0]) if p[0] > 0 else 0.0
        mass, length = (
            float(own if own >= _PART * mean else mean) for own, mean in ((p[0], mean_mass), (radius, mean_length))
        )
        found.append(Body(name, indices, mass, length))
    return tuple(found)


def sizes(torque: AffineTorque, found: tuple[Body, ...]) -> Array:
    """The size of each parameter (n_p): of a body's by its mass and length; of others by the torque that they make.

    Ours. A parameter of its size makes a tenth of the torques, where it acts: those of the nominal robot and of bodies
    of their sizes, at random states. A nominal value that is 0 or tiny, as a placeholder is, tells no size.
    """
    y, tau = torque(*torque.random_states)
    acts = np.abs(y).max(axis=0) > 0
    size = np.ones(len(torque.names))
    for body in found:
        at = list(body.indices)
        size[at] = body.sizes
        tau = np.hypot(tau, np.linalg.norm(y[:, :, at] * body.sizes, axis=2))
    for k in np.flatnonzero([quantity(name) not in DYNAMIC_PARAMETERS for name in torque.names]):
        rows = acts[:, k]
        norm = np.linalg.norm(y[:, rows, k])
        size[k] = (_PART * np.linalg.norm(tau[:, rows]) / norm if norm else 0.0) or 1.0
    return size


def limits(names: tuple[str, ...], bounds: Bounds | None) -> tuple[Array, Array]:
    """The least and the largest value of each parameter (n_p): armature, friction and stiffness are at least 0."""
    lower = np.array([0.0 if quantity(name) in _NOT_NEGATIVE else -np.inf for name in names])
    upper = np.full(len(names), np.inf)
    for name, pair in _by_name("fit: bounds", bounds, names).items():
        what, k = f"fit: bounds[{name!r}]", names.index(name)
        if not isinstance(pair, list | tuple | np.ndarray) or len(pair) != 2:
            raise ArgumentTypeError(f"{what}: expected (least, largest), got {pair!r}")
        least, most = (
            end if given is None or given == end else number(what, given, least=-np.inf)
            for given, end in zip(pair, (-np.inf, np.inf), strict=True)
        )
        if least > most or most < lower[k]:
            zero = "" if least > most else f", and {quantity(name)} is at least 0"
            raise ArgumentError(f"{what}: nothing lies between {least:g} and {most:g}{zero}")
        lower[k], upper[k] = max(lower[k], least), most
    return lower, upper


def priors(names: tuple[str, ...], nominal: Array, prior: Prior | None) -> tuple[Array, dict[int, float]]:
    """The value of each parameter before the data (n_p), and the standard deviations of those that have one."""
    values, deviations = np.array(nominal), {}
    for name, given in _by_name("fit: prior", prior, names).items():
        what, k = f"fit: prior[{name!r}]", names.index(name)
        if isinstance(given, list | tuple | np.ndarray):
            if len(given) != 2:
                raise ArgumentTypeError(f"{what}: expected a value or (value, standard deviation), got {given!r}")
            deviations[k] = number(f"{what}: standard deviation", given[1])
            given = given[0]
        values[k] = number(what, given, least=-np.inf)
    return values, deviations


def _by_name(what: str, given: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"{what}: expected a mapping of names of parameters, got {type(given).__name__}")
    for name in given:
        if name not in names:
            raise UnknownNameError("parameter", name, names)
    return given


@dataclass(frozen=True, eq=False)
class Reduced:
    """What least squares need of the samples.

    Attributes:
        factors: R_j of the rows of each entry of tau (nv × (n_p + 1) × (n_p + 1)), weighted.
        counts: the number of rows with a weight (nv).
        weights: the mean weight of these rows (nv), 1 being that of all rows with a weight; 0 if there are none.
        torques: the root mean square of the measured torques (nv).
    """

    factors: Array
    counts: Array
    weights: Array
    torques: Array

    def norms(self, s: Array) -> Array:
        """The norm of the weighted residuals of each entry of tau (nv)."""
        return np.asarray(np.linalg.norm(self.factors @ np.append(s, -1.0), axis=1))


def reduce(torque: AffineTorque, samples: Samples, sizes: Array, decimation: int = 1) -> Reduced:
    """The triangular factors of the samples, some thousand samples at a time.

    With decimation all rows of the regressor are in memory at once: N × nv × (n_p + 1) numbers.
    """
    n, nv = len(sizes) + 1, samples.tau.shape[1]
    factors = np.zeros((nv, n, n))
    weights = samples.weights[::decimation]
    counts = np.count_nonzero(weights, axis=0).astype(float)
    weights = weights * (counts.sum() / (weights.sum() or 1.0))

    def rows_of(part: Samples) -> Array:
        """[Y size | tau − tau(p₀)] (… × nv × (n_p + 1))."""
        y, nominal = torque(part.q, part.v, part.a)
        return np.concatenate([y * sizes, (part.tau - nominal)[..., None]], axis=2)

    blocks: Iterator[Array] = map(rows_of, samples.parts())
    if decimation > 1:
        blocks = iter([decimated(np.concatenate(list(blocks)), decimation)])
    start = 0
    for rows in blocks:
        rows = rows * np.sqrt(weights[start : start + len(rows)])[..., None]
        start += len(rows)
        for j in range(nv):
            factors[j] = triangular(np.vstack([factors[j], rows[:, j]]))
    rms = np.sqrt(np.mean(samples.tau**2, axis=0))
    return Reduced(factors, counts, weights.sum(axis=0) / np.maximum(counts, 1), rms)


def triangular(rows: Array) -> Array:
    """A square R (n × n) with Rᵀ R = rowsᵀ rows: the triangular factor of the columns that are not zero."""
    acts = rows.any(axis=0)
    own = np.linalg.qr(rows[:, acts], mode="r")
    r = np.zeros((rows.shape[1], rows.shape[1]))
    r[: len(own), acts] = own
    return r
