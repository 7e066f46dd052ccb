"""The real daemon in a process of its own, for tests that kill it, crowd it or run whole jobs."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kbd.client.blocking import Client, ConnectionLostError

__all__ = ["RealDaemon"]

START_S = 40.0
"""Seconds that a start may take on a machine that is busy with other tests."""


class RealDaemon:
    """A daemon in a home of its own; it may be killed and started again.

    Args:
        home: Its home: a folder with a short path.
        backend: "asyncio" or "trio".
        environment: What it gets beside the test's own environment, less kbd's and the providers'.
        preface: Python that its process runs first.
    """

    def __init__(
        self,
        home: Path,
        backend: str = "asyncio",
        environment: Mapping[str, str] | None = None,
        preface: str = "",
    ) -> None:
        self.home, self.backend = home, backend
        self._code = f"import sys\nfrom kbd.cli import main\n{preface}\nsys.exit(main())"
        self.socket = str(home / "kbd.sock")
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("KBD_", "OPENAI_"))
        }
        # Whether this machine has a sentence model must not matter.
        alike = {"KBD_SEARCH_EMBEDDER": "none"}
        self.environment = dict(environment or {})
        self._environment = {**kept, **alike, **self.environment}
        self._process: subprocess.Popen[bytes] | None = None
        self.log = home.parent / f"{home.name}-daemon.log"

    @property
    def pid(self) -> int:
        """The process that runs now, or ran last."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it and wait until it answers."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable, "-c", self._code, "--home", str(self.home), "daemon",
                    "--backend", self.backend, "--log-format", "json",
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self._environment,
            )  # fmt: skip
        deadline = time.monotonic() + START_S
        while True:
            try:
                with Client(self.socket) as client:
                    client.send("EngineGetInfo")
                return
            except ConnectionLostError:
                code = self._process.poll()
                if code is not None or time.monotonic() > deadline:
                    said = self.log.read_text(errors="replace")[-2000:]
                    msg = f"the daemon did not start ({code}): {said}"
                    raise AssertionError(msg) from None
                time.sleep(0.02)

    def kill(self) -> None:
        """Kill it as a crash would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def wait(self) -> int:
        """Wait until it ends by itself, and return its exit code."""
        assert self._process is not None
        return self._process.wait(timeout=START_S)

    def stop(self) -> int:
        """Stop it in order and return its exit code; kill it if it takes too long."""
        if self._process is None or self._process.poll() is not None:
            return self._process.returncode if self._process else 0
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(timeout=START_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise

    @contextmanager
    def client(self) -> Iterator[Client]:
        """Connect to it."""
        with Client(self.socket) as client:
            yield client

    def ask(self, method: str, **params: Any) -> Any:
        """Ask it one thing over a connection of its own."""
        with self.client() as client:
            return client.send(method, params, timeout=START_S)

    def events(self, workbench_id: str) -> list[dict[str, Any]]:
        """Return all events of a log as they are stored, without the words for people."""
        found = self.ask("EventsRead", workbench_id=workbench_id, limit=10_000)
        words = {"title", "place"}
        return [
            {key: value for key, value in event.items() if key not in words}
            for event in found["events"]
        ]

    def wait_for_run(self, run_id: str, timeout_s: float = 120.0) -> dict[str, Any]:
        """Wait until a run is not under way, and return it."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            run: dict[str, Any] = self.ask("RunGet", run_id=run_id)
            if run["status"] != "running":
                return run
            time.sleep(0.05)
        raise AssertionError(run_id)

    def workbench(self, *files: Path, name: str = "test") -> str:
        """Create a workbench with files and return its id."""
        workbench_id = str(self.ask("WorkbenchCreate", name=name)["workbench_id"])
        paths = [str(path) for path in files]
        added = self.ask("WorkbenchFilesAdd", workbench_id=workbench_id, source_paths=paths)
        assert ["added"] * len(files) == [row["status"] for row in added["add_results"]]
        return workbench_id

    def run_prompt(self, workbench_id: str, text: str) -> dict[str, Any]:
        """Send a message, run it to its end, and return the run."""
        self.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text=text)
        started = self.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
        return self.wait_for_run(started["run_id"])
