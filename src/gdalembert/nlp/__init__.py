"""Nonlinear programs interval by interval, for any solver of CasADi: derivatives by blocks, warm starts, time limits;
and quadratic programs of stages as machine code.

No module here knows a robot; :mod:`gdalembert.ocp` makes such programs of motions.
"""
