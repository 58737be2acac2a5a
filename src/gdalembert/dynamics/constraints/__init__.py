"""Constraints: contacts with the surroundings and loops between links, as rows of a KKT system."""
