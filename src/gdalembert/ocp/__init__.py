"""Optimal control: what is specific to a robot's dynamics, for a program of stages or any other transcription."""

from gdalembert.errors import OptimizationError, SolutionWarning
from gdalembert.model.limits import Bounds
from gdalembert.nlp.solver import Solver
from gdalembert.nlp.stage_qp import StageQP, StageQPSolution
from gdalembert.ocp.joined_solution import PhasesSolution, ScenariosSolution
from gdalembert.ocp.problems.contact_schedule import ContactSchedule, ScheduledSolver
from gdalembert.ocp.problems.joined import Phases, Scenarios
from gdalembert.ocp.problems.problem import Problem
from gdalembert.ocp.program import FormulatedProgram
from gdalembert.ocp.real_time.sequences import ContactScheduleSolver, RealTimePhases
from gdalembert.ocp.real_time.solver import RealTimeSolver
from gdalembert.ocp.solution import Solution
from gdalembert.ocp.solvers.acados import AcadosSolver
from gdalembert.ocp.solvers.frameworks import AcadosExpressions, acados_expressions, add_to_rockit
from gdalembert.ocp.solvers.registry import solver
from gdalembert.ocp.stage import Stages, collocation
from gdalembert.ocp.system.guess import Guess, rest_to_rest
from gdalembert.ocp.system.steps import RungeKutta, rk4, transcription

__all__ = [
    "AcadosExpressions",
    "AcadosSolver",
    "Bounds",
    "ContactSchedule",
    "ContactScheduleSolver",
    "FormulatedProgram",
    "Guess",
    "OptimizationError",
    "Phases",
    "PhasesSolution",
    "Problem",
    "RealTimePhases",
    "RealTimeSolver",
    "RungeKutta",
    "Scenarios",
    "ScenariosSolution",
    "ScheduledSolver",
    "Solution",
    "SolutionWarning",
    "Solver",
    "StageQP",
    "StageQPSolution",
    "Stages",
    "acados_expressions",
    "add_to_rockit",
    "collocation",
    "rest_to_rest",
    "rk4",
    "solver",
    "transcription",
]
