"""What works for every game that fills the contract in ``game.py``: tables, agents, environments, records."""
