"""A second process in which the networks learn while the first one plays."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from katz_train.learner import Learner, UpdateRequest

COMMAND = "import sys; sys.path[:] = sys.argv[2:]; from katz_train.learner_process import serve; serve(int(sys.argv[1]))"
"""What the process runs. Python's multiprocessing would import the script that has called `train` again, which fails where that
has no main guard or comes from stdin, and would refuse to start a process in a daemonic worker."""
PATIENCE = 5.0
"""Seconds that the process has to end when it is told to; it needs milliseconds unless it is just importing a large library."""

T = TypeVar("T")


@dataclass
class UpdateResult:
    """What comes back from an update.

    Attributes
    ----------
    parameters
        Of the networks and the optimiser; see `Learner.set_parameters`.
    updates
        How many passes over rollouts there have been.
    metrics
        What is logged, by name.
    """

    parameters: dict[str, Any]
    updates: int
    metrics: dict[str, float]


class LearnerProcess:
    """A process with a copy of a learner, which learns from the rollouts that it is sent and sends the parameters back.

    It ends when this object is closed or this process is gone, whatever it is doing: a thread of it waits for the end of its
    standard input, which is a pipe from here. Ctrl-C in a terminal does not reach it, for it is in a process group of its own.

    Parameters
    ----------
    learner
        Copied as it is now; the copies stay the same as long as the learner takes over everything that comes back.

    Attributes
    ----------
    process : subprocess.Popen
        The process.
    busy : bool
        Whether an update was begun and is not ended.
    cpu_seconds : float
        Processor time that it has used up to the last update.

    Raises
    ------
    OSError
        If the operating system does not start another process.
    """

    def __init__(self, learner: Learner) -> None:
        import torch

        copied = io.BytesIO()
        learner.save(copied)
        self.pipe, theirs = Pipe()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-c", COMMAND, str(theirs.fileno()), *sys.path],
                stdin=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                process_group=0,
            )
        except BaseException:
            self.pipe.close()
            raise
        finally:
            theirs.close()
        self.busy, self.cpu_seconds = False, 0.0
        # Sent by a thread: the pipe is smaller than the copy, and the process takes seconds until it reads.
        first = (copied.getvalue(), torch.get_num_threads(), torch.get_float32_matmul_precision())
        self._sender = threading.Thread(target=self._send_first, args=(first,), daemon=True)
        self._sender.start()

    def _send_first(self, message: tuple[bytes, int, str]) -> None:
        with suppress(OSError, ValueError):  # if the process has ended or the pipe is closed, `begin` or `end` says so
            self.pipe.send(message)

    def begin(self, request: UpdateRequest) -> None:
        """Begin an update; `end` must follow before the next."""
        self._sender.join()
        self._or_gone(lambda: self.pipe.send(request))
        self.busy = True

    def end(self) -> UpdateResult:
        """Wait for the end of the update; an exception that it ended with is raised here.

        Raises
        ------
        ValueError
            If the process has ended.
        """
        import torch

        answer = self._or_gone(self.pipe.recv)
        self.busy = False
        if isinstance(answer, Exception):
            raise answer
        parameters, updates, metrics, self.cpu_seconds = answer
        return UpdateResult(torch.load(io.BytesIO(parameters), weights_only=True), updates, metrics)

    def close(self) -> None:
        """End the process, also in the middle of an update."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._sender.join()
        self.pipe.close()

    def _or_gone(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except (EOFError, OSError):
            raise ValueError(
                "the process in which the networks learn has ended; go on with --resume, or without it with --processes 1"
            ) from None


# --- in the process


def serve(descriptor: int) -> None:
    """Learn from the rollouts that arrive at this end of the pipe, until the other process closes it or is gone."""
    threading.Thread(target=_end_with_parent, daemon=True).start()  # before the imports, which take seconds
    import torch
    from stable_baselines3.common.logger import Logger

    from katz_train.learner import Learner

    pipe = Connection(descriptor)
    try:
        saved, threads, precision = pipe.recv()
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision(precision)
        learner = Learner.load(io.BytesIO(saved), device="cpu")
        while True:
            request = pipe.recv()
            learner.set_logger(Logger(None, []))
            try:
                learner.update(request)
            except Exception as error:
                pipe.send(error)
                continue
            parameters = io.BytesIO()
            torch.save(learner.get_parameters(), parameters)
            metrics = dict(learner.logger.name_to_value)
            pipe.send((parameters.getvalue(), learner._n_updates, metrics, time.process_time()))
    except (EOFError, OSError):
        os._exit(0)


def _end_with_parent() -> None:
    """End this process without a word as soon as the other one closes its end of the standard input, or is gone."""
    while os.read(0, 1):
        pass
    os._exit(0)
