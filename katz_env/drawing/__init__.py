"""What every game draws with: lettering, pictures as SVG, their pixels, and a window that shows them.

`Picture` and `lettering` need nothing but Python. `pixels` and `window` need the extra ``render``, which they import when
they are first used.
"""

from katz_env.drawing.picture import Picture, Symbols

__all__ = ["Picture", "Symbols"]
