"""Everything that serves every game: tables, agents, environments and game records. ``game.py`` states the contract."""
