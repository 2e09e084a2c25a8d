"""Where the command ``digest`` begins, also in each process that it starts.

Nothing that is imported is ever let go, so the garbage collector looks through it in vain, a fifth of the time that
the program takes to begin.
"""

import gc

gc.disable()

from digest.main import main  # noqa: E402 - only what is imported now is imported without the collector

gc.enable()

__all__ = ["main"]
