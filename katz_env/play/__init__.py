"""A game between a person and agents in the terminal: what ``katz play`` runs."""
