"""Dynamics of a robot that contacts and loops hold."""
