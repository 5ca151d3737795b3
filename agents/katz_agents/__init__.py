"""Baseline players for katz_env, one file each; all of them see only a `katz_env.View`."""
