"""What is specific to Katz und Maus: the players ``greedy`` and ``heuristic``, and the playouts of ``search``."""
