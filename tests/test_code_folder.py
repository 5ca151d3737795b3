"""The package works where Numba finds no folder that it may write its compiled code into, as in many containers."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import katz_env, katz_agents.policy, katz_agents.search
from numba import config
tables = katz_env.Tables(katz_env.Katzenjammer(2), seed=1)
print(config.CACHE_DIR)
"""


def test_without_a_folder_for_compiled_code_one_is_made_and_removed_in_the_end(tmp_path):
    # The only place that Numba looks at here is NUMBA_CACHE_DIR, which is not set.
    environment = {**os.environ, "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator", "TMPDIR": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-W", "error", "-c", PROGRAM]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr
    assert Path(result.stdout.strip()).parent == tmp_path
    assert list(tmp_path.iterdir()) == []
