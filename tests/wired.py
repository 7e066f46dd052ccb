"""The real daemon with a model that writes what a test says, seen over the socket."""

import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kbd.client.blocking import Client, RemoteError
from model_server import (
    ModelServer,
    Play,
    Reply,
    call,
    calls,
    model_server,
    phase_of,
    text,
    turn_of,
)
from real_daemon import RealDaemon

FILE_BYTES = 1000
FILES = 5
MODEL = "openai:scripted"

PLAN = "# Execution Plan\n\n## Task\nwrite\n\n## Items\n- [ ] 1. Write\n\n## Notes\n"


class Script:
    """What the model does.

    Attributes:
        plan: The plan that it makes.
        writes: What it writes at the first turn of each item.
        instead: Plays in the place of the two above, if there is one.
        requests: The bodies that it was sent, in order.
        answers: Set while it answers; while it is not, the model thinks.
        asked: Set when it was asked while it thinks.
    """

    def __init__(self) -> None:
        self.answers = threading.Event()
        self.asked = threading.Event()
        self.forget()

    def forget(self) -> None:
        """Be as new: a plan of one item, nothing written, nothing asked."""
        self.plan = PLAN
        self.writes: dict[str, str] = {}
        self.instead: Play | None = None
        self.requests: list[dict[str, Any]] = []
        self.answers.set()
        self.asked.clear()

    def play(self, body: dict[str, Any]) -> Reply:
        """Be the model."""
        self.requests.append(body)
        if not self.answers.is_set():
            self.asked.set()
            self.answers.wait(60)
        if self.instead is not None:
            return self.instead(body)
        match phase_of(body):
            case "plan":
                return text(self.plan)
            case "implement" if turn_of(body) == 0:
                return calls(
                    *(
                        call("write_text_file", {"path": name, "content": content}, f"w{number}")
                        for number, (name, content) in enumerate(self.writes.items())
                    )
                )
            case _:
                return text("All done.")


class Wired:
    """What a test holds.

    Attributes:
        daemon: The daemon.
        folder: A folder for the user's files.
        script: What the model does.
        server: Where it does it; `wired` sets it.
        environment: What the daemon's environment has beside the test's own; `wired` sets it.
        preface: Python that the daemon's process runs first; the same.
    """

    server: ModelServer
    environment: Mapping[str, str]
    preface: str

    def __init__(self, daemon: RealDaemon, folder: Path, script: Script) -> None:
        self.daemon, self.folder, self.script = daemon, folder, script
        self._made = 0

    def ask(self, method: str, **params: Any) -> Any:
        """Ask the daemon one thing."""
        return self.daemon.ask(method, **params)

    def refused(self, method: str, **params: Any) -> RemoteError:
        """Ask for what must be refused; whatever the reason, it tells no path of this machine."""
        with pytest.raises(RemoteError) as refused:
            self.daemon.ask(method, **params)
        error = refused.value
        told = f"{error.message} {error.data}"
        for place in (str(self.daemon.home), str(self.folder), "/work/", "Traceback"):
            assert place not in told
        return error

    def file(self, name: str, content: str = "text") -> Path:
        """Make a file of the user's in a folder of its own."""
        self._made += 1
        path = self.folder / str(self._made) / name
        path.parent.mkdir()
        path.write_text(content)
        return path

    def workbench(self, **files: str) -> str:
        """Create a workbench with files; `a__txt="x"` is the file a.txt."""
        made = [self.file(name.replace("__", "."), content) for name, content in files.items()]
        return self.daemon.workbench(*made)

    def add(self, workbench_id: str, *paths: Path) -> list[tuple[str, str | None]]:
        """Add files and return what became of each."""
        found = self.ask(
            "WorkbenchFilesAdd", workbench_id=workbench_id, source_paths=[str(p) for p in paths]
        )
        return [(row["status"], row.get("reason")) for row in found["add_results"]]

    def files(self, workbench_id: str) -> list[str]:
        """Return the names of a workbench's files."""
        rows = self.ask("WorkbenchFilesList", workbench_id=workbench_id)["files"]
        return [row["path"] for row in rows]

    def draft(self, workbench_id: str, **files: str) -> dict[str, Any]:
        """Have a run write these files, and return the run."""
        self.script.writes = {name.replace("__", "."): content for name, content in files.items()}
        run = self.daemon.run_prompt(workbench_id, "write")
        assert run["status"] == "finished", run
        return run

    def changes(self, workbench_id: str) -> dict[str, str]:
        """Return what the draft does to which file."""
        rows = self.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"]
        return {row["path"]: row["change_type"] for row in rows}

    def published(self, workbench_id: str) -> Path:
        """Return the folder of what is published."""
        return self.daemon.home / "workbenches" / workbench_id / "published"


_FOUND = """\
import socket
look_up = socket.getaddrinfo
def found(host, *more, **options):
    return look_up("127.0.0.1" if host in ({host!r}, {host!r}.encode()) else host, *more, **options)
socket.getaddrinfo = found
"""
"""What has a daemon find a name that no server of names knows."""


@contextmanager
def wired(
    backend: str, preface: str = "", more: Mapping[str, str] | None = None, host: str = ""
) -> Iterator[Wired]:
    """Run daemon and model on one backend.

    Args:
        backend: "asyncio" or "trio".
        preface: Python that the daemon's process runs first.
        more: What its environment has beside, or in the place of, what stands here.
        host: Another name for the model's machine than its address, which is this one's: with it
            all that the model is sent leaves the machine, as far as the daemon can tell.
    """
    folder = Path(tempfile.mkdtemp(prefix="kbd-"))
    (folder / "user").mkdir()
    script = Script()
    with model_server(script.play) as server:
        environment = {
            "OPENAI_BASE_URL": server.base_url.replace("127.0.0.1", host or "127.0.0.1"),
            "KBD_MODEL": MODEL,
            "KBD_LIMITS_FILE_BYTES": str(FILE_BYTES),
            "KBD_LIMITS_FILES": str(FILES),
            "KBD_RUN_RETRY_S": "0.01",
            **(more or {}),
        }
        found = _FOUND.format(host=host) + preface if host else preface
        daemon = RealDaemon(folder / "home", backend, environment, found)
        daemon.start()
        try:
            running = Wired(daemon, folder / "user", script)
            running.server, running.environment, running.preface = server, environment, found
            yield running
        finally:
            daemon.stop()
            shutil.rmtree(folder, ignore_errors=True)


class Heard:
    """What a connection hears beside its answers.

    Attributes:
        notices: Method and parameters, in order.
    """

    def __init__(self, client: Client) -> None:
        self.notices: list[tuple[str, dict[str, Any]]] = []
        self._client = client
        client.on_notification = lambda method, params: self.notices.append((method, params))

    def until(self, method: str, count: int = 1) -> list[dict[str, Any]]:
        """Read until a notification has come so many times, and return those."""
        while len(self.of(method)) < count:
            assert self._client.wait(20), (method, self.notices)
        return self.of(method)

    def of(self, method: str) -> list[dict[str, Any]]:
        """Return the notifications of one kind."""
        return [params for heard, params in self.notices if heard == method]
