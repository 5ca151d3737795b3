"""Import this before NumPy: its matrix products then use one thread.

The networks are so small that a second thread hardly helps on a free machine; on a busy one the threads wait for each other,
and a product takes many times as long.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
