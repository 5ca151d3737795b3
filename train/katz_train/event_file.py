"""TensorBoard's log of a run."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import KVWriter
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from katz_train.run_directory import cannot_save


class EventFile(KVWriter):
    """Writes scalars for TensorBoard at once, in this thread.

    PyTorch's writer has a thread for it, which prints a traceback when the disk is full; the run then goes on without a log.

    Parameters
    ----------
    directory
        Where the file is made; it must exist.
    """

    def __init__(self, directory: Path) -> None:
        # Named as TensorBoard's own writer does, so that it is found and files of one directory sort by time.
        name = (
            f"events.out.tfevents.{time.time_ns() // 10**9:010d}.{socket.gethostname()}.{os.getpid()}.{time.time_ns() % 10**9}"
        )
        self.path = directory / name
        try:
            self._file = self.path.open("wb", buffering=0)
        except OSError as error:
            raise cannot_save(self.path, error) from None
        self._records = RecordWriter(self._file)
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Write numbers by name; called by SB3's logger."""
        values = [
            Summary.Value(tag=name, simple_value=float(value))
            for name, value in sorted(key_values.items())
            if "tensorboard" not in key_excluded[name]
        ]
        self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))

    def _write(self, event: Event) -> None:
        try:
            self._records.write(event.SerializeToString())
        except OSError as error:
            self.close()
            raise cannot_save(self.path, error) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()
