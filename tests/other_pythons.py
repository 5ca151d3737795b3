"""Goes through the front doors in every supported Python of this machine: ``python tests/other_pythons.py``.

Each interpreter gets a fresh virtual environment with the core dependencies of the versions in constraints.txt, and no others;
the oldest interpreter gets another one with the lowest versions that pyproject.toml allows. The run says which interpreters it
found and which it did not; it ends with status 1 if one fails.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NEWEST = 14  # no version of Numba that constraints.txt could name runs on a later 3.x


def project() -> dict[str, Any]:
    """The table ``project`` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def lowest() -> list[str]:
    """The core dependencies with the lowest versions that pyproject.toml allows, such as ``numpy==2.0``."""
    return [dependency.partition(",")[0].replace(">=", "==") for dependency in project()["dependencies"]]


def supported() -> list[str]:
    """The versions ``3.x`` that pyproject.toml and Numba allow."""
    oldest = int(re.fullmatch(r">=3\.(\d+).*", project()["requires-python"]).group(1))
    return [f"3.{minor}" for minor in range(oldest, NEWEST + 1)]


def pyenv_folders() -> list[Path]:
    """Where pyenv keeps its interpreters, if it is installed."""
    roots = [os.environ["PYENV_ROOT"]] if "PYENV_ROOT" in os.environ else []
    if not roots and shutil.which("pyenv"):
        roots = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=False).stdout.split("\n")[:1]
    return [folder for root in roots if root for folder in sorted(Path(root, "versions").glob("*"), reverse=True)]


def interpreter(version: str) -> str | None:
    """An interpreter of this version that starts and can make virtual environments."""
    candidates = [sys.executable, shutil.which(f"python{version}")]
    candidates += [str(folder / "bin/python") for folder in pyenv_folders() if folder.name.startswith(f"{version}.")]
    for candidate in filter(None, candidates):
        code = "import sys, ensurepip; print('%d.%d' % sys.version_info[:2])"
        try:
            found = subprocess.run([candidate, "-c", code], capture_output=True, text=True, check=False)
        except OSError:
            continue
        if found.returncode == 0 and found.stdout.strip() == version:
            return candidate
    return None


def check(python: str, folder: Path, versions: list[str]) -> tuple[bool, str]:
    """Install the project with these versions and go through its front doors; whether that worked, and what was said."""
    inside = str(folder / "venv/bin/python")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA_", "VIRTUAL_ENV"))
    }
    environment |= {"NUMBA_CACHE_DIR": str(folder / "numba"), "PYTHONWARNINGS": "error::DeprecationWarning:katz_env"}
    steps = (
        [python, "-m", "venv", str(folder / "venv")],
        [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *versions, "."],
        [inside, "-P", "tests/front_doors.py"],
    )
    said = ""
    for step in steps:
        done = subprocess.run(step, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        said = f"{done.stdout}{done.stderr}".strip()
        if done.returncode:
            return False, said
    return True, said


def main() -> int:
    """Check every interpreter; the status of the process."""
    failed, found = [], []
    named = {"the versions of constraints.txt": ["-c", "constraints.txt"]}
    for version in supported():
        python = interpreter(version)
        if python is None:
            print(f"Python {version}: not on this machine", flush=True)
            continue
        found.append(version)
        oldest = {" ".join(lowest()): lowest()} if version == supported()[0] else {}
        for name, versions in (named | oldest).items():
            start = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                good, said = check(python, Path(folder), versions)
            took = time.monotonic() - start
            print(f"Python {version} ({python}), {name}, {took:.0f} s: {'' if good else 'FAILED: '}{said}", flush=True)
            failed += [] if good else [version]
    print(f"checked {', '.join(found) or 'nothing'}; failed {', '.join(failed) or 'none'}")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
