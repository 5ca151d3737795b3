"""Policy files from strangers: nothing is unpickled, and no memory is taken for more than a policy may hold."""

import io
import json
import os
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

from katz_agents.archive import load_arrays
from katz_agents.policy import Policy
from katz_agents.policy_file import save_policy
from katz_env import Katzenjammer

GAME = Katzenjammer(2)


def header(shape, descr="<f4"):
    """The first bytes of a file of an array."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": shape, "fortran_order": False, "descr": descr})
    return stream.getvalue()


def archive(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression, compresslevel=1) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def refused(path, message):
    """It is no policy, said in one line, and hardly any memory is taken to find out."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message) as raised:
            Policy(str(path))
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()
    assert "\n" not in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_small_file_that_unpacks_to_a_gigabyte_is_refused(tmp_path):
    path = tmp_path / "bomb.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        file.open("weight_0.npy", "w", force_zip64=True) as member,
    ):
        member.write(header((275, 2**20)))
        for _ in range(275):
            member.write(bytes(4 * 2**20))
    assert path.stat().st_size < 8 * 2**20
    refused(path, "its .* bytes declare to unpack to 1,153,4")


def test_an_array_that_claims_more_than_it_has_is_refused(tmp_path):
    for shape, descr in (((2**30,), "<f4"), ((2**40,), "<U0"), ((2**20, 2**20), "|i1")):
        path = archive(tmp_path / "claim.npz", {"weight_0.npy": header(shape, descr) + bytes(1000)})
        refused(path, "weight_0.npy is declared as .*, but holds 1,000 bytes")


def test_many_arrays_that_are_too_large_together_are_refused(tmp_path):
    whole = header((2**22,)) + bytes(4 * 2**22)
    path = archive(tmp_path / "many.npz", {f"weight_{i}.npy": whole for i in range(17)})
    refused(path, "its .* bytes declare to unpack to 285,2")


def test_nothing_is_unpickled(tmp_path):
    class Command:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "pwned"),)

    objects = header((1,), "|O") + pickle.dumps([Command()])
    refused(
        archive(tmp_path / "objects.npz", {"weight_0.npy": objects}),
        "weight_0.npy holds Python objects, which are never loaded",
    )
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Command()))
    refused(tmp_path / "plain.npz", "not a zip file")
    assert not (tmp_path / "pwned").exists()


def test_other_kinds_of_files_are_refused(tmp_path):
    np.save(tmp_path / "single.npy", np.zeros(3, np.float32))
    refused(tmp_path / "single.npy", "not a zip file")
    os.mkfifo(tmp_path / "pipe.npz")
    refused(tmp_path / "pipe.npz", "it is not a regular file")
    refused(tmp_path / "missing.npz", "No such file")
    refused(tmp_path, "Is a directory")
    refused(archive(tmp_path / "text.npz", {"readme.txt": "hello"}), "is not a policy: ")


def test_what_was_saved_is_read(tmp_path):
    rng = np.random.default_rng(1)
    weight = rng.normal(size=(GAME.observation_size, GAME.num_actions)).astype(np.float32)
    save_policy(tmp_path / "policy.npz", GAME, [(weight, np.zeros(GAME.num_actions, np.float32))])
    arrays = load_arrays(tmp_path / "policy.npz")
    np.testing.assert_array_equal(arrays["weight_0"], weight)
    assert json.loads(str(arrays["trained_for"])) == GAME.describe()
    np.testing.assert_array_equal(Policy(str(tmp_path / "policy.npz")).layers[0][0], weight)
