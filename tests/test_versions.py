"""A library that is too old or too new is named in one line, with the versions that work."""

import importlib.metadata
import subprocess
import sys

import pytest

from katz_env.core import versions


def test_the_installed_versions_work():
    versions.check_versions()
    assert any(versions._CORE.match(requirement) for requirement in importlib.metadata.requires("katz_env"))


@pytest.mark.parametrize(
    ("library", "installed", "message"),
    [
        ("gymnasium", "1.0.0", r"katz_env works with gymnasium>=1\.1; 1\.0\.0 is installed"),
        ("numba", "0.60.1", r"katz_env works with numba<0\.\d+,>=0\.61; 0\.60\.1 is installed"),
        ("numba", "0.99.0rc1", r"katz_env works with numba<0\.\d+,>=0\.61; 0\.99\.0rc1 is installed"),
        ("numpy", "1.26.4", r"katz_env works with numpy>=2\.0; 1\.26\.4 is installed"),
        ("pettingzoo", "1.25.0", r"katz_env works with pettingzoo>=1\.26; 1\.25\.0 is installed"),
    ],
)
def test_a_wrong_version_is_named_with_those_that_work(monkeypatch, library, installed, message):
    real = importlib.metadata.version
    monkeypatch.setattr(versions, "version", lambda name: installed if name == library else real(name))
    with pytest.raises(ImportError, match=message):
        versions.check_versions()


def test_sources_that_are_not_installed_are_not_checked():
    versions.check_versions("no-such-distribution")


def test_it_is_checked_before_the_library_is_used():
    code = (
        "import importlib.metadata as m, sys\n"
        "real = m.version\n"
        "m.version = lambda name: '1.0.0' if name == 'gymnasium' else real(name)\n"
        "try: import katz_env\n"
        "except ImportError as error: print(error, 'gymnasium' in sys.modules)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "katz_env works with gymnasium>=1.1; 1.0.0 is installed False\n"
