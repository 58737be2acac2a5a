"""Constraints: contacts with the surroundings and loops between links, and the dynamics of a robot that has them."""
