"""Calibration: the placements of joints and frames of a robot from measured poses, positions or closed loops.

kin = gd.Kinematics(model, parameters={"placement": ["joint1", "joint2", "tool0"]})
result = gd.calibration.fit(kin, "tool0", q, poses, model=model, held_back=0.2)
print(result)
calibrated = result.model
"""

from gdalembert.calibration.fit import fit
from gdalembert.calibration.poses import poses
from gdalembert.calibration.result import Calibration
from gdalembert.errors import CalibrationWarning

__all__ = ["Calibration", "CalibrationWarning", "fit", "poses"]
