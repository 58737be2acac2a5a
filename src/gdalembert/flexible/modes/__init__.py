"""Shape functions of a flexible link: what each modal coordinate does along the beam.

For bending (value and slope are zero at the root):

* :func:`craig_bampton`, :func:`hermite`: static shapes, with interior modes; for a link that carries something;
* :func:`clamped_free`, :func:`clamped_tip`: exact modes of a bare beam, and of a beam with a tip mass;
* :func:`clamped_clamped`: interior modes; alone they do not move the tip;
* :func:`polynomial`: powers.

For extension and torsion (the value is zero at the root): :func:`sine`, :func:`linear`, :func:`polynomial_torsion`. For
any direction: :func:`sampled`, :func:`from_coefficients` and :func:`custom`. Sets are joined by ``+``;
:meth:`ModeSet.scaled`, :meth:`ModeSet.selected` and :meth:`ModeSet.combined` make sets of their shapes.

Sets do not know the beam: the roots β l, ratios and normalisations are dimensionless, and shapes are evaluated for a
length. A modal coordinate has the unit that makes its displacement one: m where shapes are dimensionless.
"""

from gdalembert.flexible.modes.mode_set import ModeSet
from gdalembert.flexible.modes.shapes import (
    clamped_clamped,
    clamped_free,
    clamped_tip,
    craig_bampton,
    custom,
    from_coefficients,
    hermite,
    linear,
    polynomial,
    polynomial_torsion,
    sampled,
    sine,
)

__all__ = [
    "ModeSet",
    "clamped_clamped",
    "clamped_free",
    "clamped_tip",
    "craig_bampton",
    "custom",
    "from_coefficients",
    "hermite",
    "linear",
    "polynomial",
    "polynomial_torsion",
    "sampled",
    "sine",
]
