"""Motions of rigid and flexible robots, by the integrators of CasADi and SUNDIALS."""

from gdalembert.simulation.result import Simulation, SimulationError, SimulationWarning

__all__ = ["Simulation", "SimulationError", "SimulationWarning"]
