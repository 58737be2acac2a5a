"""What an environment with biorbd-casadi runs: values and instructions of the graphs of a .bioMod."""

import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import biorbd_casadi as biorbd
import casadi as ca

asked = json.load(sys.stdin)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "robot.bioMod"
    path.write_text(asked["bioMod"])
    model = biorbd.Model(str(path))
q, v, a = (ca.MX.sym(letter, model.nbQ()) for letter in "qva")
last = model.nbSegment() - 1
outputs = {
    "tau": ([q, v, a], model.InverseDynamics(q, v, a).to_mx()),
    "mass_matrix": ([q], model.massMatrix(q).to_mx()),
    "placement": ([q], model.globalJCS(q, last).to_mx()),
}
found = {"version": version("biorbd-casadi"), "casadi": ca.__version__, "values": {}, "instructions": {}}
for name, (inputs, output) in outputs.items():
    function = ca.Function(name, inputs, [output]).expand()
    states = zip(*[asked[x.name()] for x in inputs], strict=True)
    found["values"][name] = [function(*state).full().tolist() for state in states]
    symbols = function.sx_in()
    found["instructions"][name] = ca.Function(name, symbols, [ca.cse(function(*symbols))]).n_instructions()
print(json.dumps(found))
