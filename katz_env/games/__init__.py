"""The games: each in a package of its own, with the same modules under the same names."""
