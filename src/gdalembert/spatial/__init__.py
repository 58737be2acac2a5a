"""Mathematics that knows no robot: algebra, motions and wrenches, Lie maps, Functions, batches, arguments."""

from gdalembert.spatial.algebra import Matrix as Matrix
from gdalembert.spatial.algebra import axis_rotation as axis_rotation
from gdalembert.spatial.algebra import congruence as congruence
from gdalembert.spatial.algebra import constant as constant
from gdalembert.spatial.algebra import cross_columns as cross_columns
from gdalembert.spatial.algebra import inertia_of as inertia_of
from gdalembert.spatial.algebra import outer as outer
from gdalembert.spatial.algebra import pseudo_inertia_of as pseudo_inertia_of
from gdalembert.spatial.algebra import rows as rows
from gdalembert.spatial.algebra import skew as skew
from gdalembert.spatial.algebra import spin as spin
from gdalembert.spatial.algebra import symmetric as symmetric
from gdalembert.spatial.algebra import transform as transform
from gdalembert.spatial.algebra import translation as translation
from gdalembert.spatial.algebra import twist as twist
from gdalembert.spatial.factorization import Factorization as Factorization
from gdalembert.spatial.factorization import symmetric_solve as symmetric_solve
