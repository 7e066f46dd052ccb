"""Steps of one run, read from the daemon on demand."""

import base64
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from kbd.cli.link import call
from kbd.client.blocking import Client

__all__ = ["StepReader", "read_moment"]

MAX_CACHED = 16
"""How many blobs, and how many states, are kept for going back."""

BLOB_BYTES = 8 * 1024 * 1024
"""How much of one blob is read; nobody reads more on a screen."""

STEPS_PER_PAGE = 1000
"""How many steps are asked for at a time; the daemon tells fewer if they are large."""

_PART_BYTES = 1024 * 1024

Step = dict[str, Any]


class StepReader:
    """Reader of a run's steps and the blobs that they name; caches what it read.

    Args:
        client: Asks the daemon.
        run_id: The run.

    Raises:
        RequestRefused: There is no such run.
    """

    def __init__(self, client: Client, run_id: str) -> None:
        self._client = client
        self._steps: list[Step] = []
        self._blobs: OrderedDict[str, str] = OrderedDict()
        self._states: OrderedDict[int, dict[str, Any]] = OrderedDict()
        self._found = self._read(run_id)

    @property
    def run(self) -> dict[str, Any]:
        """The run, as `RunGet` answers it."""
        found: dict[str, Any] = self._found["run"]
        return found

    @property
    def request(self) -> str:
        """Text of the request that the run answers."""
        return str(self._found["request"])

    @property
    def total(self) -> int:
        """Number of steps so far; a run that is under way may get more."""
        return int(self._found["total"])

    def step(self, index: int) -> Step:
        """Return a step by its place, from 1; IndexError if there is none."""
        while len(self._steps) < min(index, self.total):
            self._found = self._read(self.run["run_id"])
        return self._steps[index - 1]

    def steps(self, start: int = 1) -> Iterator[Step]:
        """Yield all steps from one on."""
        index = start
        while index <= self.total:
            yield self.step(index)
            index += 1

    def refresh(self) -> None:
        """Ask what has been recorded since: more steps, and the end of those that were open."""
        is_open = (place for place, step in enumerate(self._steps) if _is_open(step))
        del self._steps[next(is_open, len(self._steps)) :]
        self._found = self._read(self.run["run_id"])

    def blob(self, blob: str) -> str:
        """Return a blob as text, at most 8 MiB of it.

        Raises:
            RequestRefused: It is not kept.
        """
        cached = self._blobs.get(blob)
        if cached is None:
            cached = self._blobs[blob] = self._read_blob(blob)
            if len(self._blobs) > MAX_CACHED:
                self._blobs.popitem(last=False)
        return cached

    def state(self, seq: int) -> dict[str, Any]:
        """Return the state of the workbench after an event, as `StateAt` answers it."""
        cached = self._states.get(seq)
        if cached is None:
            cached = self._states[seq] = self.moment(seq)
            if len(self._states) > MAX_CACHED:
                self._states.popitem(last=False)
        return cached

    def moment(self, seq: int, folder: str = "") -> dict[str, Any]:
        """Ask how the workbench stood; have it written to a folder if one is named."""
        return read_moment(self._client, self.run["workbench_id"], seq, folder)

    def _read(self, run_id: str) -> dict[str, Any]:
        asked = {"run_id": run_id, "after": len(self._steps), "limit": STEPS_PER_PAGE}
        found: dict[str, Any] = call(self._client, "ReplaySteps", asked, slow=True)
        self._steps += found["steps"]
        return found

    def _read_blob(self, blob: str) -> str:
        data = bytearray()
        asked = {"workbench_id": self.run["workbench_id"], "hash": blob, "limit": _PART_BYTES}
        while len(data) < BLOB_BYTES:
            part = call(self._client, "BlobRead", {**asked, "offset": len(data)}, slow=True)
            data += base64.b64decode(part["base64"])
            if not part["has_more"]:
                break
        return data.decode("utf-8", "replace")


def read_moment(client: Client, workbench_id: str, seq: int, folder: str = "") -> dict[str, Any]:
    """Ask how a workbench stood after an event; have it written to a folder if one is named."""
    asked: dict[str, Any] = {"workbench_id": workbench_id, "seq": seq}
    if folder:
        asked["destination_dir"] = folder
    found: dict[str, Any] = call(client, "StateAt", asked, slow=True)
    return found


def _is_open(step: Step) -> bool:
    exchange = step.get("model") or step.get("call") or {}
    return bool(exchange.get("is_open"))
