"""Make the golden texts: `PYTHONPATH=tests .venv/bin/python -m logs.make_texts`.

A golden text is what a command shows a person of a golden log: `kbd log` with and without its
options, `kbd show` of every event, `kbd replay` as text, as JSON and as a page, `kbd conversation`.
The daemon that answers is scripted, but what it says of events and steps comes from the code that
the real one answers with.

They are made anew whenever words change on purpose: the difference is what a review reads.
"""

import contextlib
import html
import io
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import msgspec

from kbd.cli import main as kbd
from kbd.core.audit.steps import fold_steps
from kbd.core.store.journal import Journal
from kbd.core.store.log_reader import LogReader
from kbd.core.workbench.conversation import read_branch
from kbd.core.workbench.event_rows import EventRows
from kbd.events import EventLog
from kbd.events.base import Recorded
from kbd.events.scan import read_log
from kbd.types import Seq, WorkbenchId
from scripted_daemon import AnswerError, Notify, ScriptedDaemon

__all__ = ["HERE", "TEXTS", "rendered"]

HERE = Path(__file__).resolve().parent
TEXTS = HERE / "texts"
BENCH = WorkbenchId("00112233445566ff")

FILTERS = (
    "--run 1 --phase implement",
    "--run 1 --item 1",
    "--tool *_edit",
    "--type ToolReturned,RunFailed",
    "--since 2026-11-18T11:07:00Z --until 2026-11-18T11:07:05Z",
    "--grep categories",
    "--after 70",
)
"""What is asked of `kbd log` beside the whole log."""


class Golden(NamedTuple):
    """A golden log, and how it is asked about.

    Args:
        name: Its directory.
        asked: The argument of the commands: a workbench, or `daemon`.
        runs: The numbers of its runs that are told as steps.
    """

    name: str
    asked: str = "golden"
    runs: tuple[int, ...] = ()


LOGS = (
    Golden("v1", runs=(1, 2)),
    Golden("v1-run", runs=(1, 2)),
    Golden("v1-daemon", asked="daemon"),
)


class Daemon:
    """The answers about one log.

    Args:
        golden: Which.
        folder: Where a copy of it may lie: it is opened as the daemon opens it.
    """

    def __init__(self, golden: Golden, folder: Path) -> None:
        self._runs = golden.runs
        copy = folder / golden.name
        copy.mkdir()
        for path in (HERE / golden.name).iterdir():
            if path.suffix == ".kbl" or path.name == "anchor":
                shutil.copyfile(path, copy / path.name)
        self.events: list[tuple[Seq, Recorded]] = []
        read_log(copy, lambda seq, record: self.events.append((seq, record)))
        log_id = "daemon" if golden.asked == "daemon" else BENCH
        self._log = EventLog.open(copy)
        self._wire = EventRows(log_id, Journal(self._log))

    def answers(self) -> dict[str, Any]:
        """Return what answers which method."""
        return {
            "BlobRead": self._blob,
            "EventsRead": self._read,
            "ReplaySteps": self._steps,
            "RunList": {"runs": [self._run(number) for number in self._runs]},
            "WorkbenchList": {"workbenches": [{"id": BENCH, "name": "golden"}]},
            "WorkshopGetConversation": self._conversation,
        }

    def rows(self, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """Return events as `EventsRead` answers them."""
        return [json.loads(row) for row in anyio.run(self._wire.read, Seq(after), limit)]

    def close(self) -> None:
        """Close the copy."""
        self._log.close()

    def _read(self, params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
        after, limit = params.get("after", 0), params.get("limit", 1000)
        rows = [row for row in self.rows(after, 1000) if _is_asked_for(row, params)]
        rows = rows[::-1] if params.get("descending") else rows
        read_to = after + 1 if params.get("descending") else self._wire.seq
        if len(rows) > limit:
            read_to = rows[limit - 1]["seq"]
        return {"events": rows[:limit], "last_seq": self._wire.seq, "read_to": read_to}

    def _blob(self, params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
        raise AnswerError("NOT_FOUND", f"there is no blob {params['hash'][:4]}")

    def _run(self, number: int) -> dict[str, Any]:
        return {
            "run_id": f"{BENCH}-{number}",
            "workbench_id": BENCH,
            "request": "one sheet per category",
            "model_id": "openai:some-model",
            "status": "finished",
            "phase": "summary",
            "items": [],
            "usage": {"input_tokens": 1500, "output_tokens": 40},
            "cost": 0.0,
            "started_at": "2026-11-18T12:56:44Z",
            "ended_at": "2026-11-18T12:57:36Z",
        }

    def _steps(self, params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
        number = int(params["run_id"].rpartition("-")[2])
        steps = msgspec.to_builtins(fold_steps(number, self.events))
        return {
            "run": self._run(number),
            "request": "one sheet per category",
            "steps": steps[params.get("after", 0) :],
            "total": len(steps),
        }

    def _conversation(self, _params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
        return {"messages": msgspec.to_builtins(list(read_branch(LogReader(self._log))))}


def _is_asked_for(row: dict[str, Any], params: dict[str, Any]) -> bool:
    """Whether an event passes the filters of `EventsRead`."""
    return (
        row["seq"] < params.get("before", row["seq"] + 1)
        and row["type"] in params.get("types", [row["type"]])
        and row.get("run_id") == params.get("run_id", row.get("run_id"))
        and params.get("since", "") <= row["ts"] < params.get("until", "9")
    )


def rendered() -> Iterator[tuple[str, str]]:
    """Yield the name of each golden text and what it is today."""
    for golden in LOGS:
        with tempfile.TemporaryDirectory(dir="/tmp") as name:
            folder = Path(name)
            daemon = Daemon(golden, folder)
            script = ScriptedDaemon(folder / "s", daemon.answers())
            try:
                for told, text in _told(golden, daemon, folder):
                    yield f"{golden.name}.{told}", text
            finally:
                script.close()
                daemon.close()


def _told(golden: Golden, daemon: Daemon, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each text of one log, by its ending."""
    yield "log.txt", _run(folder, "log", golden.asked)
    places = range(1, len(daemon.events) + 1)
    shown = [_run(folder, "show", golden.asked, str(seq)) for seq in places]
    yield "show.txt", "\n".join(shown)
    if not golden.runs:
        return
    told = [(text, _run(folder, "log", golden.asked, *text.split())) for text in FILTERS]
    yield "filters.txt", "\n".join(f"kbd log {golden.asked} {text}\n{out}" for text, out in told)
    yield "conversation.txt", _run(folder, "conversation", golden.asked, "--tools")
    runs = [f"{golden.asked}-{number}" for number in golden.runs]
    yield "replay.txt", "\n".join(_run(folder, "replay", run) for run in runs)
    if golden.name != "v1-run":
        return  # What follows no order says no more as JSON or as a page.
    yield "log.jsonl", _run(folder, "log", golden.asked, "--json")
    yield "replay.jsonl", "".join(_run(folder, "replay", run, "--json") for run in runs)
    for run in runs:
        path = folder / f"{run}.html"
        _run(folder, "replay", run, "--html", str(path))
        yield f"page-{run.rpartition('-')[2]}.txt", _words(path.read_text("utf-8"))


def _run(folder: Path, *arguments: str) -> str:
    """Run a command and return what it prints."""
    out, beside = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(beside):
        code = kbd(["--home", str(folder / "home"), "--socket", str(folder / "s"), *arguments])
    said = beside.getvalue()
    return out.getvalue() + (f"[{code}] {said}" if code else "")


def _words(page: str) -> str:
    """Return what a person reads on a page, a text a line, with labels and marks of failures."""
    page = re.sub(r"<(style|script)\b.*?</\1>", "", page, flags=re.DOTALL)
    page = re.sub(r'<[^>]*?\baria-label="([^"]*)"[^>]*>', r"\n[\1]\n", page)
    page = re.sub(r"<li data-step[^>]*data-failed[^>]*>", "\nfailed:\n", page)
    lines = (line.strip() for line in html.unescape(re.sub("<[^>]*>", "\n", page)).splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def main() -> None:
    """Replace all golden texts."""
    shutil.rmtree(TEXTS, ignore_errors=True)
    TEXTS.mkdir()
    for name, text in rendered():
        (TEXTS / name).write_text(text, "utf-8")
        sys.stdout.write(f"{name}: {text.count(chr(10))} lines\n")


if __name__ == "__main__":
    main()
