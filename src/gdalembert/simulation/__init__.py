"""Motions of rigid and flexible robots, by the integrators of CasADi and SUNDIALS."""

from gdalembert.errors import SimulationError, SimulationWarning
from gdalembert.simulation.result import Simulation

__all__ = ["Simulation", "SimulationError", "SimulationWarning"]
