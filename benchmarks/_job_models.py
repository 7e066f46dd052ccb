"""What a model reads and writes for a task of tables: its turns, and tokens as kbd estimates them.

A scripted model behind HTTP does each task twice over a real daemon: by the typed operations of its
items, and by `run_job`. All else of a run is the same: a look at the file, a plan, the last words.
What is counted is what the provider's server received and answered, the schemas of tools with it;
tokens are bytes by the ratio that kbd assumes of a model that has counted none yet.
"""

import io
import json
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import openpyxl

from benchmarks._job_tasks import FILE, TASKS, Call, Item, Task, files_of
from benchmarks._measure import gate
from kbd.providers import ModelInfo

# They lie with the tests, which are no installed package.
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from model_server import Reply, call, calls, model_server, phase_of, text, turn_of
from real_daemon import RealDaemon

__all__ = ["compare_models"]

BYTES_PER_TOKEN = ModelInfo("any").bytes_per_token
FEWER = 3.0
"""How many times the turns, and the tokens, of the demo's items are those of its job, at least."""

_JOB_TOOLS = ("check_job", "run_job")
_ITEM = re.compile(r'<item number="(\d+)"')


class Spent(msgspec.Struct):
    """What a model read and wrote in a run.

    Args:
        turns: Its answers.
        read: Bytes of what it was sent.
        schemas: Bytes of tools among them.
        jobs: Bytes of the tools for jobs among these.
        written: Bytes of its answers.
    """

    turns: int = 0
    read: int = 0
    schemas: int = 0
    jobs: int = 0
    written: int = 0

    @property
    def tokens(self) -> int:
        """All that it read and wrote, in tokens."""
        return int((self.read + self.written) / BYTES_PER_TOKEN)


def compare_models() -> bool:
    """Do each task in both ways, print what a model spends; return whether the gates are met."""
    print("\nA model's turns and tokens for the same figures, typed operations and job")
    found: dict[str, tuple[Spent, Spent]] = {}
    for task in TASKS:
        job = (Item(task.request, (Call("run_job", {"job": task.job}), task.look)),)
        typed, typed_figures = _done(task, task.items)
        by_job, job_figures = _done(task, job)
        if typed_figures != job_figures:
            raise SystemExit(f"{task.name}: the two ways differ: {typed_figures} {job_figures}")
        found[task.name] = typed, by_job
        _told(task.name, typed, by_job)
        if task.sheets:
            by_sheets, figures = _done(task, task.sheets)
            if figures != job_figures:
                raise SystemExit(f"{task.name}: {figures} by one typed call, {job_figures} by job")
            _told(f"{task.name}, at once", by_sheets, by_job)
    every = [Spent(*map(sum, zip(*map(msgspec.structs.astuple, each), strict=True)))
             for each in zip(*found.values(), strict=True)]  # fmt: skip
    _told("all", every[0], every[1])
    typed, by_job = found[TASKS[0].name]
    ratios = {"turns": typed.turns / by_job.turns, "tokens": typed.tokens / by_job.tokens}
    met = [gate(f"{of}, typed / job (demo)", ratio, least=FEWER) for of, ratio in ratios.items()]
    return all(met)


def _told(name: str, typed: Spent, by_job: Spent) -> None:
    for way, spent in (("typed", typed), ("job", by_job)):
        print(
            f"  {name if way == 'typed' else '':<24} {way:<6} {spent.turns:>3} turns,"
            f" {spent.read / BYTES_PER_TOKEN:>9,.0f} tokens read"
            f" ({spent.schemas / spent.read:.0%} of them schemas,"
            f" {spent.jobs / spent.read:.0%} those of jobs),"
            f" {spent.written / BYTES_PER_TOKEN:>6,.0f} written"
        )
    print(f"  {'':<24} ratio  {typed.turns / by_job.turns:.2f} turns,"
          f" {typed.tokens / by_job.tokens:.2f} tokens")  # fmt: skip


def _done(task: Task, items: tuple[Item, ...]) -> tuple[Spent, list[Any]]:
    """Do a task by the items of a plan; return what the model spent, and the figures it made."""
    spent = Spent()
    with (
        tempfile.TemporaryDirectory(prefix="kbd-") as name,
        model_server(_playing(task, items, spent)) as server,
    ):
        folder = Path(name)
        for file, content in files_of().items():
            (folder / file).write_bytes(content)
        environment = {"OPENAI_BASE_URL": server.base_url, "KBD_MODEL": "openai:clerk"}
        daemon = RealDaemon(folder / "h", environment=environment)
        daemon.start()
        try:
            workbench_id = daemon.workbench(*(folder / file for file in files_of()))
            run = daemon.run_prompt(workbench_id, task.request)
            failed = [
                event["data"] for event in daemon.events(workbench_id)
                if event["type"] == "ToolReturned" and not event["data"]["ok"]
            ]  # fmt: skip
            if run["status"] != "finished" or failed:
                raise SystemExit(f"{task.name}: the run is {run['status']}: {failed}")
            daemon.ask("DraftPublish", workbench_id=workbench_id)
            for body in server.requests:
                spent.turns += 1
                spent.read += len(json.dumps(body, ensure_ascii=False).encode())
                for tool in body.get("tools", []):
                    size = len(json.dumps(tool, ensure_ascii=False).encode())
                    spent.schemas += size
                    spent.jobs += size if tool["function"]["name"] in _JOB_TOOLS else 0
            return spent, _figures(daemon.home / "workbenches" / workbench_id / "published")
        finally:
            daemon.stop()


def _playing(
    task: Task, items: tuple[Item, ...], spent: Spent
) -> Callable[[dict[str, Any]], Reply]:
    """Return a model that looks at the file, plans the items, and makes their calls, one a turn."""
    listed = "\n".join(f"- [ ] {n}. {item.text}" for n, item in enumerate(items, 1))
    plan = (
        f"# Execution Plan\n\n## Task\n{task.request}\n\n## Items\n{listed}\n\n## Notes\n- none\n"
    )

    def answer(body: dict[str, Any]) -> Reply:
        turn = turn_of(body)
        match phase_of(body):
            case "research" if turn == 0:
                return calls(call("table_get_map", {"path": FILE}, "look"))
            case "plan":
                return text(plan)
            case "implement":
                item = items[_item_number(body) - 1]
                if turn < len(item.calls):
                    wanted = item.calls[turn]
                    return calls(call(wanted.tool, wanted.arguments, f"c{turn}"))
        return text("Done, as the item says, and looked at.")

    def play(body: dict[str, Any]) -> Reply:
        reply = answer(body)
        spent.written += len(json.dumps(reply, ensure_ascii=False).encode())
        return reply

    return play


def _item_number(body: dict[str, Any]) -> int:
    found = _ITEM.search(str(body["messages"]))
    assert found is not None, "no item is named in what the model was sent"
    return int(found.group(1))


def _figures(published: Path) -> list[Any]:
    """Return the rows of all sheets that were made, those of totals and headings left out."""
    made: list[Any] = []
    for path in sorted(published.iterdir()):
        if path.name in files_of():
            continue
        if path.suffix == ".csv":
            lines = sorted(path.read_text().splitlines())
            made.append((path.name, lines))
            continue
        book = openpyxl.load_workbook(io.BytesIO(path.read_bytes()), data_only=True)
        for sheet in book.worksheets:
            rows = map(_rounded, sheet.iter_rows(min_row=2, values_only=True))
            made.append((sheet.title, sorted(row for row in rows if row[0] != "Total")))
    return made


def _rounded(row: tuple[Any, ...]) -> list[str]:
    return [f"{value:.2f}" if isinstance(value, float | int) else str(value) for value in row]
