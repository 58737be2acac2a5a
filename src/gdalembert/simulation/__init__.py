"""Motions of rigid and flexible robots, by the integrators of CasADi and SUNDIALS."""
