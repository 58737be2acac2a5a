"""Identification: excitation, signals, and the parameters of a robot from its measured motion and efforts.

result = gd.identification.fit(dyn, q, v, a, tau, model=model, held_back=0.2)
print(result)
identified = result.model
"""

from gdalembert.errors import ExcitationError, IdentificationError, IdentificationWarning
from gdalembert.identification.excitation import excitation
from gdalembert.identification.experiment import Experiment
from gdalembert.identification.files import load, save
from gdalembert.identification.fit import fit
from gdalembert.identification.fit_outputs import fit_outputs
from gdalembert.identification.fourier import Excitation
from gdalembert.identification.output_fit import OutputFit
from gdalembert.identification.records import Record, Sensor
from gdalembert.identification.result import BaseEstimate, Identification, NotIdentifiable, Torques
from gdalembert.identification.signals import Signals, decimated, filtered
from gdalembert.identification.simulation_errors import Prediction
from gdalembert.identification.unknowns import Bounds, Prior

__all__ = [
    "BaseEstimate",
    "Bounds",
    "Excitation",
    "ExcitationError",
    "Experiment",
    "Identification",
    "IdentificationError",
    "IdentificationWarning",
    "NotIdentifiable",
    "OutputFit",
    "Prediction",
    "Prior",
    "Record",
    "Sensor",
    "Signals",
    "Torques",
    "decimated",
    "excitation",
    "filtered",
    "fit",
    "fit_outputs",
    "load",
    "save",
]
