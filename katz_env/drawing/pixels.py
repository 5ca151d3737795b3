"""Pictures as pixels."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray


def need(module: str) -> Any:
    """A module of the extra ``render``.

    Raises
    ------
    DependencyNotInstalled
        If the extra is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        message = f'there is no {module}: drawing needs the extra render: pip install -c constraints.txt -e ".[render]"'
        raise DependencyNotInstalled(message) from None


def png(svg: str, zoom: float = 1.0) -> bytes:
    """An SVG as a PNG file.

    Raises
    ------
    DependencyNotInstalled
        If the extra ``render`` is not installed.
    """
    # Everything is shapes: no font is looked for, so that the pixels are the same on every machine.
    return bytes(need("resvg_py").svg_to_bytes(svg_string=svg, zoom=zoom, skip_system_fonts=True))


def rgb(svg: str, zoom: float = 1.0) -> NDArray[np.uint8]:
    """An SVG as an array of pixels, uint8 ``(height, width, 3)``.

    Frames are rectangles: where the picture is transparent, at its round corners, they take the color of its upper edge.

    Raises
    ------
    DependencyNotInstalled
        If the extra ``render`` is not installed.
    """
    image = need("PIL.Image")
    drawn = image.open(io.BytesIO(png(svg, zoom))).convert("RGBA")
    paper = image.new("RGBA", drawn.size, drawn.getpixel((drawn.width // 2, drawn.height // 100)))
    return np.array(image.alpha_composite(paper, drawn).convert("RGB"))
