"""Nonlinear programs interval by interval, for any solver of CasADi: derivatives by blocks, warm starts, time limits.

No module here knows a robot; :mod:`gdalembert.ocp` makes such programs of motions.
"""
