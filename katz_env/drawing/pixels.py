"""Pictures as pixels."""

from __future__ import annotations

import io
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray


def need(module: str) -> Any:
    """Import a module of the extra ``render``.

    Raises
    ------
    DependencyNotInstalled
        If the extra is not installed.
    """
    with suppress(ImportError):
        found = import_module(module)
        if getattr(found, "__file__", None):  # a package that was removed can leave a folder, which is an empty package
            return found
    install = 'pip install -c constraints.txt -e ".[render]"'
    raise DependencyNotInstalled(f"there is no {module}: drawing needs the extra render: {install}")


def png(svg: str, zoom: float = 1.0) -> bytes:
    """Rasterize an SVG to a PNG file.

    Raises
    ------
    DependencyNotInstalled
        If the extra ``render`` is not installed.
    """
    # Text is drawn as outlines: without the fonts of the system the pixels are the same on every machine.
    return bytes(need("resvg_py").svg_to_bytes(svg_string=svg, zoom=zoom, skip_system_fonts=True))


def rgb(svg: str, zoom: float = 1.0) -> NDArray[np.uint8]:
    """Rasterize an SVG to an array of pixels, uint8 ``(height, width, 3)``.

    Where the picture is transparent, which is at its round corners, the pixels have the color of its upper edge.

    Raises
    ------
    DependencyNotInstalled
        If the extra ``render`` is not installed.
    """
    image = need("PIL.Image")
    drawn = image.open(io.BytesIO(png(svg, zoom))).convert("RGBA")
    paper = image.new("RGBA", drawn.size, drawn.getpixel((drawn.width // 2, drawn.height // 100)))
    return np.array(image.alpha_composite(paper, drawn).convert("RGB"))
