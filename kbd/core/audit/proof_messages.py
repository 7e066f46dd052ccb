"""Messages between the daemon and a proof's process: one order, one answer, in JSON.

The order is one line on the process's standard input, which then stays open: its end means that
the daemon is gone. The answer is all that it writes to its standard output.
"""

from typing import Any

import msgspec

from kbd.core.runtime.settings import Settings
from kbd.requests.replays import RunReplayed
from kbd.types import Seq, WorkbenchId

__all__ = ["ProofAnswer", "ProofOrder", "ProofRefused", "Proved"]


class ProofOrder(msgspec.Struct, frozen=True):
    """Request for a proof: which run, and what to use.

    Args:
        workbench_id: The workbench.
        root: Its folder.
        run: The run's number.
        until: The last event of the log that counts.
        scratch: The empty folder to write to.
        settings: The daemon's, with what its plugins were given; no key is among them.
        with_plugin: Another version of a plugin to use.
    """

    workbench_id: WorkbenchId
    root: str
    run: int
    until: Seq
    scratch: str
    settings: Settings
    with_plugin: str | None = None


class Proved(msgspec.Struct, frozen=True, tag=True):
    """Answer of a proof that was made."""

    found: RunReplayed


class ProofRefused(msgspec.Struct, frozen=True, tag="Refused"):
    """Answer of a proof that failed: the fields of a `KbdError`."""

    code: str
    message: str
    retryable: bool
    actions: tuple[str, ...]
    detail: dict[str, Any]


ProofAnswer = Proved | ProofRefused
