"""Optimal control: what is specific to a robot's dynamics, for CasADi's ``Opti`` or any other transcription."""

from gdalembert.ocp.acados import AcadosExpressions, acados_expressions
from gdalembert.ocp.bounds import Bounds
from gdalembert.ocp.guess import Guess, rest_to_rest
from gdalembert.ocp.phases import Phases, PhasesSolution
from gdalembert.ocp.problem import Problem
from gdalembert.ocp.rockit import add_to_rockit
from gdalembert.ocp.scenarios import Scenarios, ScenariosSolution
from gdalembert.ocp.solution import OptimizationError, Solution, SolutionWarning, Stages
from gdalembert.ocp.solver import Solver
from gdalembert.ocp.steps import collocation, rk4

__all__ = [
    "AcadosExpressions",
    "Bounds",
    "Guess",
    "OptimizationError",
    "Phases",
    "PhasesSolution",
    "Problem",
    "Scenarios",
    "ScenariosSolution",
    "Solution",
    "SolutionWarning",
    "Solver",
    "Stages",
    "acados_expressions",
    "add_to_rockit",
    "collocation",
    "rest_to_rest",
    "rk4",
]
