"""When several processes test, each compiles the engine for other numbers of players first: what one did, the others load."""

import numpy as np
import pytest

from katz_env import Katzenjammer, Tables, make_agent

WHOLE = 500  # tests; a few of them are run sooner without


@pytest.fixture(scope="session", autouse=True)
def compiled(request):
    """Plays a little for this worker's numbers of players."""
    worker = getattr(request.config, "workerinput", None)
    if worker is None or len(request.session.items) < WHOLE:
        return
    number, workers = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    rng = np.random.default_rng(0)
    for players in (3, 2, 4, 5, 6)[number::workers]:
        tables = Tables(Katzenjammer(players), 8, seed=0)
        for _ in range(200):
            for name in ("greedy", "heuristic"):
                tables.step(make_agent(name).act(tables.view(np.arange(8), rng)))
        tables.state(tables.turn)
        tables.observe(tables.turn)
        tables.restore(tables.records.copy())
