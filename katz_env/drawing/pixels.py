"""Pictures as pixels."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

MISSING = 'needs an extra: pip install "katz_env[render]"'


def png(svg: str, zoom: float = 1.0) -> bytes:
    """An SVG as a PNG file.

    Raises
    ------
    ImportError
        If the extra ``render`` is not installed.
    """
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise ImportError(f"drawing pixels {MISSING}") from None
    # Everything is shapes: no font is looked for, so that the pixels are the same on every machine.
    return bytes(svg_to_bytes(svg_string=svg, zoom=zoom, skip_system_fonts=True))


def rgb(svg: str, zoom: float = 1.0, background: tuple[int, int, int] = (255, 255, 255)) -> NDArray[np.uint8]:
    """An SVG as an array of pixels, uint8 ``(height, width, 3)``; `background` shows where the picture does not cover it.

    Raises
    ------
    ImportError
        If the extra ``render`` is not installed.
    """
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(f"drawing pixels {MISSING}") from None
    image = Image.open(io.BytesIO(png(svg, zoom))).convert("RGBA")
    paper = Image.new("RGBA", image.size, (*background, 255))
    return np.asarray(Image.alpha_composite(paper, image).convert("RGB"))
