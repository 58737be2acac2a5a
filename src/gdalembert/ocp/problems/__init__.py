"""The problems that users say: of one motion, and of several that are connected."""
