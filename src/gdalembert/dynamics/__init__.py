"""The contract of a robot's dynamics, and the formulations that fulfil it: one source each, one module each.

The formulations are imported here, so that whoever imports any module of this folder finds all of them registered.
"""

from gdalembert.dynamics import generalized_dalembert as generalized_dalembert
from gdalembert.dynamics import lagrange_euler as lagrange_euler
from gdalembert.dynamics import recursive_newton_euler as recursive_newton_euler
