"""By default no more threads are used than the machine, the control group and the environment variable grant."""

from pathlib import Path

import pytest

from katz_env import Katzenjammer, Tables, make_agent
from katz_env.core import thread_pool
from katz_env.core.thread_pool import MAX_THREADS, NUM_THREADS_VARIABLE, available_cores, cpu_quota


def tree(root: Path, groups: str, **files: str) -> Path:
    """A made-up file system: ``/proc/self/cgroup``, and files under ``/sys/fs/cgroup``."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, content in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


V1_GROUPS = "12:memory:/job\n4:cpu,cpuacct:{path}\n1:name=systemd:/x\n0::/\n"


def v1(folder, quota, period="100000"):
    return {f"{folder}/cpu.cfs_quota_us": f"{quota}\n", f"{folder}/cpu.cfs_period_us": f"{period}\n"}


@pytest.mark.parametrize(
    ("groups", "files", "quota"),
    [
        ("0::/job\n", {"job/cpu.max": "200000 100000\n"}, 2),
        ("0::/job\n", {"job/cpu.max": "150000 100000\n"}, 1.5),
        ("0::/job\n", {"job/cpu.max": "max 100000\n"}, MAX_THREADS),
        ("0::/\n", {"cpu.max": "100000 100000\n"}, 1),  # a container sees its own group at the root
        ("0::/outer/inner\n", {"outer/cpu.max": "300000 100000\n", "outer/inner/cpu.max": "max 100000\n"}, 3),
        ("0::/outer/inner\n", {"outer/cpu.max": "800000 100000\n", "outer/inner/cpu.max": "200000 50000\n"}, 4),
        ("0::/of/the/host\n", {"cpu.max": "100000 100000\n"}, 1),  # the path of the host does not exist in the container
        ("0::/../elsewhere\n", {"cpu.max": "100000 100000\n"}, 1),
        (V1_GROUPS.format(path="/job"), v1("cpu,cpuacct/job", 250000), 2.5),
        (V1_GROUPS.format(path="/job"), v1("cpu/job", 50000), 0.5),
        (V1_GROUPS.format(path="/job"), v1("cpu/job", -1), MAX_THREADS),
        (V1_GROUPS.format(path="/docker/1f"), v1("cpu", 200000), 2),  # a container sees its own group at the root
        (V1_GROUPS.format(path="/a/b"), v1("cpu/a", 300000) | v1("cpu/a/b", -1), 3),
        (V1_GROUPS.format(path="/a/b"), v1("cpu/a", 300000) | v1("cpu/a/b", 100000), 1),
        ("", {}, MAX_THREADS),
        ("nonsense\n::::\n0::/job\n", {"job/cpu.max": "nonsense\n"}, MAX_THREADS),
        ("0::/job\n", {"job/cpu.max": ""}, MAX_THREADS),
        ("0::/job\n", {"job/cpu.max": "0 100000\n"}, MAX_THREADS),
        ("0::/job\n", {"job/cpu.max": "100000 0\n"}, MAX_THREADS),
    ],
)
def test_the_quota_is_the_smallest_of_all_groups_around_the_process(tmp_path, groups, files, quota):
    assert cpu_quota(tree(tmp_path, groups, **files)) == quota


def test_without_control_groups_there_is_no_quota(tmp_path):
    assert cpu_quota(tmp_path) == MAX_THREADS


@pytest.fixture
def machine(monkeypatch):
    """Sets how many processors there are, and what the control group grants."""

    def set_to(processors, quota):
        monkeypatch.delenv(NUM_THREADS_VARIABLE, raising=False)
        monkeypatch.setattr(thread_pool.os, "sched_getaffinity", lambda _: set(range(processors)), raising=False)
        monkeypatch.setattr(thread_pool, "cpu_quota", lambda: float(quota))

    return set_to


@pytest.mark.parametrize(
    ("processors", "quota", "cores"), [(64, 1024, 64), (64, 1, 1), (64, 2.9, 2), (64, 0.1, 1), (2, 16, 2), (1, 1024, 1)]
)
def test_nothing_takes_more_than_is_granted(machine, processors, quota, cores):
    machine(processors, quota)
    assert available_cores() == cores
    assert Tables(Katzenjammer(2), 1, seed=1).num_threads == cores
    assert make_agent("search").num_threads == cores
    assert Tables(Katzenjammer(2), 1, seed=1, num_threads=3).num_threads == 3


def test_the_environment_variable_comes_first(machine, monkeypatch):
    machine(64, 4)
    monkeypatch.setenv(NUM_THREADS_VARIABLE, " 3 ")
    assert available_cores() == Tables(Katzenjammer(2), 1, seed=1).num_threads == 3
    monkeypatch.setenv(NUM_THREADS_VARIABLE, "")
    assert available_cores() == 4


@pytest.mark.parametrize("value", ["0", "-1", "1025", "two", "1.5"])
def test_a_wrong_environment_variable_is_named(monkeypatch, value):
    monkeypatch.setenv(NUM_THREADS_VARIABLE, value)
    with pytest.raises(ValueError, match=f"{NUM_THREADS_VARIABLE} is '.*'; it must be an integer from 1 to 1024"):
        available_cores()
