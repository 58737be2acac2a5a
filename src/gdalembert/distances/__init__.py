"""Distances: covers, pairs, gaps and their derivatives."""
