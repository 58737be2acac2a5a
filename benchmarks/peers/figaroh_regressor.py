"""What an environment with figaroh runs: the base parameters that its QR decomposition finds in given samples."""

import json
import sys
from importlib.metadata import version

import numpy as np
from figaroh.identification.parameter import get_standard_parameters
from figaroh.tools.load_robot import load_robot
from figaroh.tools.qrdecomposition import QRDecomposer
from figaroh.tools.regressor import build_regressor_basic, build_regressor_reduced, get_index_eliminate

asked = json.load(sys.stdin)
robot = load_robot(asked["urdf"])
config = {"act_idxv": list(range(robot.model.nv))}
regressor = build_regressor_basic(robot, *(np.array(asked[letter]) for letter in "qva"), config)
parameters = get_standard_parameters(robot.model)
idle, used = get_index_eliminate(regressor, parameters)
reduced = build_regressor_reduced(regressor, idle)
tau = regressor @ np.array(list(parameters.values()))
base, _, formulas, values = QRDecomposer().double_decomposition(tau, reduced, used)
found = {"version": version("figaroh"), "regressor": base.tolist(), "values": np.ravel(values).tolist()}
print(json.dumps(found | {"formulas": list(formulas)}))
