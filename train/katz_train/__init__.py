"""What the scripts of this folder share; used from a clone of the repository, not installed."""
