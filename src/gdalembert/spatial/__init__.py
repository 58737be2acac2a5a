"""Mathematics that knows no robot: algebra, motions and wrenches, Lie maps, Functions, batches, arguments."""

from gdalembert.spatial.algebra import (
    Matrix,
    axis_rotation,
    congruence,
    constant,
    cross_columns,
    inertia_of,
    outer,
    pseudo_inertia_of,
    rows,
    skew,
    spin,
    symmetric,
    transform,
    translation,
    twist,
)
from gdalembert.spatial.factorization import Factorization, symmetric_solve
from gdalembert.spatial.lie.exponential_maps import inverse_screw_shift, screw_shift
from gdalembert.spatial.lie.quaternions import (
    quaternion_conjugate,
    quaternion_exp,
    quaternion_log,
    quaternion_product,
    quaternion_rotation,
)
from gdalembert.spatial.lie.series import cosine, sine_defect_over_cube, sine_over_angle, versine_over_square

__all__ = [
    "Factorization",
    "Matrix",
    "axis_rotation",
    "congruence",
    "constant",
    "cosine",
    "cross_columns",
    "inertia_of",
    "inverse_screw_shift",
    "outer",
    "pseudo_inertia_of",
    "quaternion_conjugate",
    "quaternion_exp",
    "quaternion_log",
    "quaternion_product",
    "quaternion_rotation",
    "rows",
    "screw_shift",
    "sine_defect_over_cube",
    "sine_over_angle",
    "skew",
    "spin",
    "symmetric",
    "symmetric_solve",
    "transform",
    "translation",
    "twist",
    "versine_over_square",
]
