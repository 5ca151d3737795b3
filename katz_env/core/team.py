"""The threads that step tables together, and when they had better not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from katz_env.core import shares
from katz_env.core.game import Records
from katz_env.core.threads import Helpers, crew

_SHORTEST_REST, _LONGEST_REST = 4, 1024  # steps


class Team:
    """What threads that step tables together have in common.

    On a machine that is busy with other things a helper is often interrupted in the middle of a piece, and to wait for it takes
    longer than to do all alone. So every such wait makes the team rest for twice as many steps as the last, and every step
    without one for a sixteenth less.

    Parameters
    ----------
    step
        `Game.step`.
    records, settings
        Its first and its last arguments. The team keeps no reference to the tables themselves: a thread that waits should keep
        their arrays alive, but not them.
    num_threads
        How many threads, the calling one included.
    """

    def __init__(self, step: Callable[..., int], records: Records, settings: tuple[Any, ...], num_threads: int) -> None:
        self.share, where, actions = shares.new_share(num_threads, len(records))
        self.bell = crew().bell
        self._rest, self._next_rest = 0, _SHORTEST_REST  # steps
        share, bell = self.share, self.bell
        self.helpers = Helpers(lambda me: step(records, where, actions, share, me, bell, *settings), num_threads)

    def rested(self) -> bool:
        """Whether the team takes this step."""
        if self._rest > 0:
            self._rest -= 1
            return False
        return True

    def late(self) -> None:
        """The calling thread had to wait for the others."""
        self._rest, self._next_rest = self._next_rest, min(2 * self._next_rest, _LONGEST_REST)

    def in_time(self) -> None:
        """All ended at about the same time."""
        self._next_rest = max(_SHORTEST_REST, self._next_rest * 15 // 16)
