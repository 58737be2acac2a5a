"""What an environment with frax runs: values of batches in float64, and seconds of the processor for one batch."""

import json
import os
import sys
import time
from importlib.metadata import version

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1 "
    "--xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"
)

import frax
import jax
import jax.numpy as jnp

asked = json.load(sys.stdin)
robot = frax.Manipulator(asked["urdf"])
up = jnp.array([0, 0, 9.81, 0, 0, 0])
functions = {
    "tau": lambda q, v, a: robot.rnea(q, v, a, up, None),
    "mass_matrix": lambda q, v, a: robot.crba(q),
    "placement": lambda q, v, a: robot.ee_transform(q),
    "jacobian": lambda q, v, a: robot.ee_jacobian(q),
}
inputs = [jnp.array(asked[letter]) for letter in "qva"]
found = {"version": version("frax"), "jax": version("jax"), "values": {}, "seconds": {}}
for name, function in functions.items():
    batch = jax.jit(jax.vmap(function))
    values = batch(*inputs).block_until_ready()
    found["values"][name] = values[: asked["compared"]].tolist()
    found["seconds"][name] = []
    for _ in range(asked["rounds"]):
        begin = time.process_time()
        batch(*inputs).block_until_ready()
        found["seconds"][name].append(time.process_time() - begin)
print(json.dumps(found))
