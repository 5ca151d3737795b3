"""The Gymnasium vector environment: many tables, with one open seat each, that are stepped together."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from katz_env.core.arena import Opponents, one_open_seat
from katz_env.core.game import Game
from katz_env.core.gym_env import ILLEGAL_REWARD
from katz_env.core.observer import Observer
from katz_env.core.rendering import RENDER_FPS, Renderer
from katz_env.core.self_play import NOBODY, Finished, SelfPlay
from katz_env.core.spaces import checked_options, checked_seed
from katz_env.core.validation import check_at_least, check_integer

Array = NDArray[Any]


class GameVectorEnv(VectorEnv[Any, NDArray[np.int64], Array]):
    """`SingleEnv` on many tables at once.

    ``infos["action_mask"]`` is int8 ``(N, A)``. What happens to a table whose game ended depends on Gymnasium's autoreset mode:

    - SAME_STEP: it is dealt anew in the same step. ``infos["final_obs"]`` and ``infos["final_info"]`` hold the last observation
      and the results of the finished game, with ``"illegal_action"``; the returned observation belongs to the next game.
    - NEXT_STEP: the returned observation is the last one, and `infos` holds the results. The next step ignores the action for
      this table, deals anew, and returns the first observation with reward 0.
    - DISABLED: as NEXT_STEP, but the caller must deal anew with ``reset(options={"reset_mask": terminations})`` before the
      next step.

    An exception during `step` or `reset`, such as an opponent's error or a KeyboardInterrupt while opponents think, breaks all
    games off: then only a `reset` of all tables is accepted. Actions that are not integers are refused before anything happens,
    and the games continue.

    Parameters
    ----------
    game, opponents, seat, reward, mask, history
        The settings of `SingleEnv`.
    render_mode
        None, ``"ansi"`` or ``"rgb_array"``: `render` returns one text, or one array of pixels, for each table.
    num_envs
        The number of tables, N.
    num_threads
        The number of threads that share the tables of a step; None for as many as `available_cores` grants. With opponents that
        play as compiled code, such as ``"greedy"``, the whole step runs on one thread.
    autoreset_mode
        A member of `gymnasium.vector.AutoresetMode`, or its name.

    Raises
    ------
    ValueError
        If a setting is not one of its possible values.
    """

    metadata: dict[str, Any] = {
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        opponents: Opponents = "greedy",
        seat: int | None = None,
        reward: str = "win",
        render_mode: str | None = None,
        num_threads: int | None = None,
        mask: str = "info",
        history: int = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
    ) -> None:
        check_at_least("num_envs", num_envs, 1)
        self.autoreset_mode = _checked_mode(autoreset_mode)
        self.metadata = self.metadata | {"autoreset_mode": self.autoreset_mode}
        self._renderer = Renderer(game, render_mode, self.metadata["render_modes"])
        agents, seating = one_open_seat(game.num_players, opponents, seat)
        self.game, self.num_envs, self.render_mode = game, int(num_envs), render_mode
        self._play = SelfPlay(
            game,
            num_envs,
            agents=agents,
            seating=seating,
            reward=reward,
            autoreset=self.autoreset_mode == AutoresetMode.SAME_STEP,
            num_threads=num_threads,
            illegal_reward=ILLEGAL_REWARD,
            history=history,
        )
        self._tables, self._arena = self._play.tables, self._play.arena
        self._everyone = np.arange(self.num_envs)
        self._observer = Observer(self._tables, mask)
        self.single_observation_space = self._observer.space
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal new games and play to the first decisions of the open seats.

        Parameters
        ----------
        seed
            Seeds all generators (with a `reset_mask`, those of its tables and of the agents); with None they continue their
            streams.
        options
            ``"reset_mask"``, bool ``(N,)``, marks the tables to deal anew; without it all are. Other options are ignored.

        Returns
        -------
        observations, infos
            The observations, float32 ``(N, D)``, and the infos described above.

        Raises
        ------
        ValueError
            If the seed or the mask is invalid, or there is a mask that leaves out tables and no games are in play.
        """
        seed = checked_seed(seed, "one integer of at least 0, for all tables together")
        options = dict(checked_options(options))
        for key in ("deal", *self.game.deal_options):
            if options.get(key) is not None:
                raise ValueError(f"many tables take no {key!r}; gym.make and Tables.deal do")
        mask = options.get("reset_mask")
        if mask is not None:
            if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
                raise ValueError(f"reset_mask must be a bool array of shape ({self.num_envs},) with at least one True")
            if self._play.not_in_play and not mask.all():
                raise ValueError(f"{self._play.not_in_play}: call reset() without a reset_mask")
        super().reset(seed=seed)
        self._play.reset(seed, mask, None if seed is None else self.np_random)
        return self._observations(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one action for each open seat.

        Parameters
        ----------
        actions
            Action ids, integers ``(N,)``.

        Returns
        -------
        observations, rewards, terminations, truncations, infos
            float32 ``(N, D)``, float32 ``(N,)``, bool ``(N,)``, bool ``(N,)`` (always False), and the infos described above.

        Raises
        ------
        ValueError
            If `reset` must be called first, or the actions have the wrong type or shape.
        """
        self._check_in_play()
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(f"actions are {actions.dtype} {actions.shape}; they must be integers ({self.num_envs},)")
        play = self._play
        ended_before = np.flatnonzero(play.over)
        if len(ended_before) and self.autoreset_mode == AutoresetMode.DISABLED:
            raise ValueError(f"the game of table {ended_before[0]} is over; reset it with options={{'reset_mask': ...}}")
        rewards, terminated = play.step(actions).by_table(self.num_envs)
        finished = play.finished
        if len(ended_before):
            play.reset(where=ended_before)
        infos = self._infos()
        if len(finished.tables):
            self._add_results(infos, finished)
        return self._observations(), rewards, terminated, np.zeros(self.num_envs, np.bool_), infos

    def action_masks(self) -> NDArray[np.int8]:
        """Return the legal actions of all open seats, int8 ``(N, A)``; none where no game is in play."""
        masks = self._play.action_masks.astype(np.int8)
        masks[slice(None) if self._play.not_in_play else self._play.over] = 0
        return masks

    def named_observations(self) -> dict[str, NDArray[Any]]:
        """Return what all open seats see by field name: unscaled int8 arrays ``(N, *shape)``, and the history as float32.

        Raises
        ------
        ValueError
            If no games are in play.
        """
        self._check_in_play()
        return self._observer.named(self._counts(), self._everyone, self._seats())

    def events(self, table: int) -> NDArray[Any]:
        """Return what happened at a table since the last decision of its open seat, as it may know it; see `Tables.events`.

        Raises
        ------
        ValueError
            If no games are in play, there is no such table, or the environment was made without `history`.
        """
        self._check_in_play()
        check_integer("table", table, 0, self.num_envs - 1)
        return self._tables.events(table, self._seats().item(table), "decision")

    def render(self) -> tuple[Any, ...] | None:
        """Render every table in `render_mode`, from the point of view of its open seat.

        Raises
        ------
        ValueError
            If no games are in play.
        """
        self._check_in_play()
        if self.render_mode is None:
            return None
        seats = self._seats().tolist()
        return tuple(self._renderer.render(table, seat) for table, seat in zip(self._tables.records, seats, strict=True))

    def _check_in_play(self) -> None:
        """Raise ValueError if only `reset` is accepted: the seats to act at the tables may then be those of opponents."""
        if self._play.not_in_play:
            raise ValueError(f"{self._play.not_in_play}; call reset() before step()")

    def _seats(self) -> NDArray[np.int64]:
        """Return the open seat of each table, int64 ``(N,)``: the one to act, unless the game is over."""
        return self._play.open_seats() if self._play.over.any() else self._play.seats

    def _counts(self) -> NDArray[np.int8]:
        """Return what the open seats see, before scaling, int8 ``(N, D)``."""
        return self._tables.observe(self._seats()) if self._play.over.any() else self._play.observations

    def _observations(self) -> Any:
        observations = self._observer.observe(self._counts(), self._everyone, self._seats())
        return self._observer.with_mask(observations, self.action_masks())

    # --- infos in Gymnasium's layout: an array over all tables, and a mask under the same name with a leading underscore

    def _infos(self) -> dict[str, Any]:
        everyone = np.ones(self.num_envs, np.bool_)
        in_observation = self._observer.mask_in_observation
        masks = {} if in_observation else {"action_mask": self.action_masks(), "_action_mask": everyone}
        return masks | {"seat": self._seats(), "_seat": everyone.copy()}

    def _add_results(self, infos: dict[str, Any], finished: Finished) -> None:
        """Add the results of the open seats in `finished` games to `infos`, and with SAME_STEP their last observations."""
        where, seats = finished.tables, finished.open_seats()
        values = self._play.results(seats) | {"illegal_action": finished.culprits != NOBODY}
        if self.autoreset_mode != AutoresetMode.SAME_STEP:
            self._add(infos, where, values)
            return
        counts = self.game.observe_unchecked(finished.records, seats)
        final = self._observer.observe(counts, where, seats, finished=True)
        masks = np.zeros((len(where), self.game.num_actions), np.int8)
        infos["final_obs"], infos["final_info"] = np.full(self.num_envs, None, object), {}
        for k, i in enumerate(where):
            infos["final_obs"][i] = self._observer.with_mask(final[k], masks[k])
        for name in ("_final_obs", "_final_info"):
            infos[name] = np.zeros(self.num_envs, np.bool_)
            infos[name][where] = True
        masks_in_info = {} if self._observer.mask_in_observation else {"action_mask": masks}
        self._add(infos["final_info"], where, values | {"seat": seats} | masks_in_info)

    def _add(self, infos: dict[str, Any], where: NDArray[np.int64], values: dict[str, Array]) -> None:
        """Add arrays ``(k, ...)`` for the tables `where` to `infos`."""
        for name, array in values.items():
            infos[name] = np.zeros((self.num_envs, *array.shape[1:]), array.dtype)
            infos["_" + name] = np.zeros(self.num_envs, np.bool_)
            infos[name][where], infos["_" + name][where] = array, True


def _checked_mode(mode: Any) -> AutoresetMode:
    """Return an autoreset mode; raise ValueError if `mode` is neither one nor the name of one."""
    for member in AutoresetMode:
        if mode is member or (isinstance(mode, str) and mode.lower() in (member.name.lower(), member.value.lower())):
            return member
    names = ", ".join(repr(member.name) for member in AutoresetMode)
    raise ValueError(f"autoreset_mode is {mode!r}; it must be one of {names}")
