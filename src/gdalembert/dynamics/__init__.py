"""The contract of a robot's dynamics, and the formulations that fulfil it: one source each, one module each."""
