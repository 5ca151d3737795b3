"""Compiled code on disk: damaged, forged and old files are replaced, and where nothing can be kept all goes on without."""

from __future__ import annotations

import errno
import hashlib
import itertools
import warnings

import numba
import numpy as np
import pytest
from numba import config

from katz_env.core import jit


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder for compiled code."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jit, "_folders", {})
    monkeypatch.setattr(jit, "_said", set())
    return tmp_path


def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result


def double(numbers):
    for i in range(len(numbers)):
        numbers[i] *= 2
    return numbers[0]


def entry(function=total):
    """The function as a new process would have it: compiled or loaded when it is first called."""
    return jit.cached(function, name=f"tests.{function.__name__}")


def files(folder):
    return sorted(folder.rglob("*.code"))


def everything(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def hits_and_misses(function):
    return sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values())


def called(function, numbers):
    """What a new process gets, and whether it loaded the code."""
    fresh = entry(function)
    result = fresh(numbers)
    assert sum(hits_and_misses(fresh)) == 1
    return result, hits_and_misses(fresh) == (1, 0)


INTEGERS, REALS = np.arange(4), np.arange(4) / 2


def test_code_is_compiled_once_for_each_signature_and_then_loaded(folder):
    for numbers in (INTEGERS, REALS):
        assert called(total, numbers) == (numbers.sum(), False)
        assert called(total, numbers) == (numbers.sum(), True)
    assert len(files(folder)) == len(everything(folder)) == 2


DAMAGE = {
    "emptied": lambda whole: b"",
    "cut in half": lambda whole: whole[: len(whole) // 2],
    "cut in the head": lambda whole: whole[:20],
    "the last byte is gone": lambda whole: whole[:-1],
    "a byte too many": lambda whole: whole + b"\0",
    "one bit is another": lambda whole: whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:],
    "zeros": lambda whole: bytes(len(whole)),
    "another version": lambda whole: whole.replace(numba.__version__.encode(), b"9" * len(numba.__version__), 1),
    "somebody else's bytes": lambda whole: b"PK\x03\x04" + b"not code at all " * 100,
    "a length beyond the end": lambda whole: whole[:32] + b"\xff\xff\xff\x7f" + whole[36:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_compiled_anew_and_replaced(damage, folder):
    called(total, INTEGERS)
    (path,) = files(folder)
    whole = path.read_bytes()
    spoiled = DAMAGE[damage](whole)
    assert spoiled != whole
    path.write_bytes(spoiled)
    assert called(total, INTEGERS) == (6, False)
    assert called(total, INTEGERS) == (6, True)
    assert everything(folder) == [path]


def test_a_folder_in_the_place_of_a_file_is_no_obstacle(folder):
    called(total, INTEGERS)
    (path,) = files(folder)
    path.unlink()
    path.mkdir()
    with pytest.warns(RuntimeWarning, match="compiled code cannot be kept in"):
        assert called(total, INTEGERS) == (6, False)


def parts(path):
    return jit._parts(path.read_bytes())


@pytest.mark.parametrize("other", [(total, REALS), (double, INTEGERS.copy())], ids=["signature", "function"])
@pytest.mark.parametrize("forged", ["whole", "code", "code and checksum"])
def test_a_file_that_holds_the_code_of_another_signature_or_function_is_noticed(other, forged, folder):
    called(total, INTEGERS)
    (mine,) = files(folder)
    called(*other)
    (theirs,) = set(files(folder)) - {mine}
    original = mine.read_bytes()
    if forged == "whole":
        mine.write_bytes(theirs.read_bytes())
    else:  # under the right name and key lies the other's code, with the other's checksum
        key, (checksum, _, code) = parts(mine)[1], parts(theirs)
        if forged == "code and checksum":
            checksum = hashlib.sha256(key + code).digest()
        mine.write_bytes(b"".join((checksum, len(key).to_bytes(4, "little"), key, code)))
    assert mine.read_bytes() != original
    assert called(total, INTEGERS) == (6, False)
    assert called(total, INTEGERS) == (6, True)
    assert called(total, REALS)[0] == 3.0


def test_a_full_disk_is_said_once_and_nothing_is_left_behind(folder, monkeypatch):
    def full(path, content):
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with warnings.catch_warnings(record=True) as drawn:
        warnings.simplefilter("always")
        for function, numbers in itertools.product((total, double), (INTEGERS.copy(), REALS.copy())):
            assert called(function, numbers)[1] is False
    assert [str(warning.message).partition(" in ")[0] for warning in drawn] == ["compiled code cannot be kept"]
    assert "No space left on device" in str(drawn[0].message)
    assert everything(folder) == []


def test_without_any_folder_code_is_compiled_in_memory(folder, monkeypatch):
    monkeypatch.setattr(jit, "_folder", lambda function: None)
    assert called(total, INTEGERS) == (6, False)
    assert called(total, INTEGERS) == (6, False)
    assert everything(folder) == []


def test_code_of_older_sources_is_removed_and_that_of_other_functions_kept(folder, monkeypatch):
    called(total, INTEGERS)
    called(total, REALS)
    called(double, INTEGERS.copy())
    old = {path for path in files(folder) if "double" not in path.name}
    kept = set(files(folder)) - old
    monkeypatch.setattr(jit, "digest_of", lambda files, constants: "0123456789abcdef")
    assert called(total, INTEGERS) == (6, False)
    assert not old & set(files(folder))
    assert kept <= set(files(folder))
    assert len(files(folder)) == len(kept) + 1


def test_the_code_of_a_function_whose_name_goes_on_is_not_taken_for_older_code(folder, monkeypatch):
    longer = jit.cached(double, name="tests.total-of-more")
    longer(INTEGERS.copy())
    (kept,) = files(folder)
    called(total, INTEGERS)
    assert kept in files(folder)


def test_an_unusable_folder_is_no_error(folder):
    called(total, INTEGERS)
    (path,) = files(folder)
    beside = path.parent
    path.unlink()
    beside.rmdir()
    beside.write_text("a file where the folder was")
    with pytest.warns(RuntimeWarning, match="compiled code cannot be kept in"):
        assert called(total, INTEGERS) == (6, False)


def test_a_callback_is_called_once_before_something_is_compiled(monkeypatch, tmp_path):
    monkeypatch.setattr(jit, "_folders", {})
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    calls = []
    jit.call_when_compiling(lambda: calls.append("compiling"))
    for number in range(2):

        def add(x: int) -> int:
            return x + number  # noqa: B023

        jit.cached(add, name=f"tests.callback_{number}")(1)
        assert calls == ["compiling"]
