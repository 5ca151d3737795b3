"""A second process in which the networks learn while the first one plays."""

from __future__ import annotations

import io
import multiprocessing
import signal
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import torch
from stable_baselines3.common.logger import Logger

if TYPE_CHECKING:
    from learner import Learner, Lesson


@dataclass
class Learned:
    """What comes back from an update.

    Attributes
    ----------
    parameters
        Of the networks and the optimiser; see `Learner.set_parameters`.
    updates
        How many passes over rollouts there have been.
    told
        What is logged, by name.
    """

    parameters: dict[str, Any]
    updates: int
    told: dict[str, Any]


class Apart:
    """A process with a copy of a learner, which learns what it is sent and sends back what has become of the networks.

    Parameters
    ----------
    learner
        Copied as it is now; the copies do not drift apart as long as the learner takes over everything that comes back.

    Attributes
    ----------
    busy : bool
        Whether an update was begun and is not ended.
    cpu_seconds : float
        Processor time that it has used up to the last update.
    """

    def __init__(self, learner: Learner) -> None:
        file = io.BytesIO()
        learner.save(file, exclude=["run_state"])  # of a run that is resumed: megabytes that no update needs
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        how = (torch.get_num_threads(), torch.get_float32_matmul_precision())
        self.process = context.Process(target=_serve, args=(theirs, file.getvalue(), *how), daemon=True)
        # Ctrl-C reaches both processes, but the first alone decides what it means; a process that is started inherits this.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN) if in_main_thread() else None
        try:
            self.process.start()
        finally:
            if in_main_thread():
                signal.signal(signal.SIGINT, before)
        theirs.close()
        self.busy, self.cpu_seconds = False, 0.0

    def begin(self, lesson: Lesson) -> None:
        """Begin an update; `end` must follow before the next."""
        self._or_gone(lambda: self.pipe.send(lesson))
        self.busy = True

    def end(self) -> Learned:
        """Wait for the end of the update."""
        answer = self._or_gone(self.pipe.recv)
        self.busy = False
        if isinstance(answer, Exception):
            raise answer
        parameters, updates, told, self.cpu_seconds = answer
        return Learned(torch.load(io.BytesIO(parameters)), updates, told)

    def close(self) -> None:
        """End the process."""
        self.pipe.close()
        self.process.join()

    def _or_gone(self, call: Any) -> Any:
        try:
            return call()
        except (EOFError, OSError):
            raise ValueError(
                "the process in which the networks learn has ended; go on with --resume, or without it with --processes 1"
            ) from None


def in_main_thread() -> bool:
    """Whether this is the one thread that may say what Ctrl-C does."""
    return threading.current_thread() is threading.main_thread()


def _serve(pipe: Connection, saved: bytes, threads: int, precision: str) -> None:
    """What the second process does, until the first has gone."""
    from learner import Learner

    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision(precision)
    learner = Learner.load(io.BytesIO(saved), device="cpu")
    try:
        while True:
            lesson = pipe.recv()
            learner.set_logger(Logger(None, []))
            try:
                learner.update(lesson)
            except Exception as error:
                pipe.send(error)
                continue
            parameters = io.BytesIO()
            torch.save(learner.get_parameters(), parameters)
            told = dict(learner.logger.name_to_value)
            pipe.send((parameters.getvalue(), learner._n_updates, told, time.process_time()))
    except (EOFError, OSError):
        pass
