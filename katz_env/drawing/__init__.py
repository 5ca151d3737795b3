"""Drawing for every game: lettering, pictures as SVG, their pixels, and a window that shows them.

`Picture` and `lettering` need nothing but Python. `pixels` and `window` need the packages of the extra ``render``, and import
them when something is drawn.
"""

from katz_env.drawing.picture import Picture, Symbols

__all__ = ["Picture", "Symbols"]
