"""A check of the versions of the libraries under katz_env, so that a wrong one is named instead of a missing attribute."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version

_CORE = re.compile(r"(?P<name>[\w.-]+?)\s*(?P<bounds>[<>]=?[\d.<>=,\s]+)$")
"""A requirement of the core, such as ``numba<0.69,>=0.61``; those of extras have a condition after a semicolon."""


def check_versions(distribution: str = "katz_env") -> None:
    """Check the installed libraries against the versions that this package allows; do nothing if it is not installed.

    Raises
    ------
    ImportError
        If a library is too old or too new; the message names it and the versions that work.
    """
    try:
        requirements = requires(distribution) or []
    except PackageNotFoundError:  # the sources are on the path without being installed
        return
    for requirement in requirements:
        found = _CORE.match(requirement)
        if found is None:
            continue
        installed = version(found["name"])
        for bound in found["bounds"].split(","):
            limit = bound.strip().lstrip("<>=")
            good = numbers_of(installed) >= numbers_of(limit) if ">" in bound else numbers_of(installed) < numbers_of(limit)
            if not good:
                raise ImportError(f"katz_env works with {found['name']}{found['bounds']}; {installed} is installed")


def numbers_of(text: str) -> tuple[int, ...]:
    """Return the first three numbers of a version, such as ``(2, 9, 0)``."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])
