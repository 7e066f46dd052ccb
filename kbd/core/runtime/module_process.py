"""Process that runs a module of kbd's own, beside the daemon.

Nothing of the environment, of the current folder or of the terminal has a part in it.
"""

import subprocess
import sys

import anyio
from anyio.abc import Process

from kbd.core.runtime.secrets import inherited_environment

__all__ = ["open_module"]


async def open_module(
    module: str,
    *arguments: str,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.DEVNULL,
    stderr: int = subprocess.DEVNULL,
) -> Process:
    """Start a process that runs a module, `python -m module arguments`, and return it.

    Args:
        module: Its name.
        arguments: What it is given.
        stdin: As for `subprocess.Popen`; nothing unless it says otherwise.
        stdout: Likewise.
        stderr: Likewise.

    Raises:
        OSError: No process can be started.
    """
    return await anyio.open_process(
        # -I: neither the environment nor the current folder can bring in modules.
        [sys.executable, "-I", "-m", module, *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd="/",
        umask=0o077,
        # Only what a worker gets: no key.
        env=inherited_environment(),
        # A Ctrl-C in the daemon's terminal reaches its whole group; only the daemon ends this.
        start_new_session=True,
    )
