"""The formulations: one source each, one module each."""
