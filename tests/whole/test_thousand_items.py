"""A plan of a thousand items: what one costs does not grow with those before it.

Time and memory are printed, for a machine is never quiet; what is promised of them is counted: how
large each item's requests are, and how much is remembered of one that is done.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import anyio
import msgspec
import pytest

from agent_rig import Rig, call, item_of, open_rig, said, say
from backends import on_asyncio
from kbd.core.domain.run_state import RunStatus
from kbd.providers import ModelReply, ModelRequest
from kbd.types import Phase
from model_server import Reply, calls, model_server, text
from model_server import call as wanted
from real_daemon import RealDaemon
from whole.seeded_runs import asked_over_http

pytestmark = pytest.mark.soak

ITEMS = 1000
FILES = 20
"""So many files the items write by turns: the list of files is in every item's context."""

PLAN = "# Execution Plan\n\n## Task\nmany things\n\n## Items\n" + "".join(
    f"- [ ] {n}. Entity: Thing {n} — write thing {n} and read it back\n"
    for n in range(1, ITEMS + 1)
)

KEPT_BYTES = 16 * 1024
"""The most that may be remembered of one finished item, all structures together."""

_PAGE_BYTES, _TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


class Marks:
    """What was seen as each item began.

    Args:
        process: The process that is looked at.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self.wall_s: dict[int, float] = {}
        self.processor_s: dict[int, float] = {}
        self.memory_bytes: dict[int, int] = {}
        self.request_bytes: dict[int, int] = {}

    def note(self, item: int, request_bytes: int) -> None:
        """Note an item's beginning, with the size of its first request."""
        folder = Path("/proc") / str(self._process)
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        self.wall_s[item] = time.monotonic()
        self.processor_s[item] = (int(fields[11]) + int(fields[12])) / _TICKS
        self.memory_bytes[item] = int((folder / "statm").read_text().split()[1]) * _PAGE_BYTES
        self.request_bytes[item] = request_bytes

    def tell(self, title: str) -> None:
        """Print what an item cost around the 10th, the 100th and the 1,000th."""
        print(f"\n{title}")
        print(f"  {'items':>9} {'request':>10} {'wall':>12} {'processor':>12} {'memory':>10}")
        for first, last in ((1, 10), (11, 100), (901, 1000)):
            count = last - first
            wall = (self.wall_s[last] - self.wall_s[first]) / count * 1e3
            processor = (self.processor_s[last] - self.processor_s[first]) / count * 1e3
            print(
                f"  {first:>4}-{last:<4} {self.request_bytes[last]:>8,} B {wall:>9.2f} ms"
                f" {processor:>9.2f} ms {self.memory_bytes[last] / 2**20:>7.1f} MiB"
            )

    def check(self) -> None:
        """What does not hang on the machine: sizes, and how memory grows."""
        sizes = self.request_bytes
        assert max(sizes[n] for n in range(900, 1001)) <= 1.05 * max(
            sizes[n] for n in range(50, 151)
        )
        grown = self.memory_bytes[1000] - self.memory_bytes[200]
        assert grown / 800 < KEPT_BYTES


def scripted(marks: Marks) -> Callable[[ModelRequest], ModelReply]:
    """A model that does the items."""

    def play(request: ModelRequest) -> ModelReply:
        match request.phase, said(request):
            case Phase.RESEARCH, _:
                return say("# Research\nnothing is there")
            case Phase.PLAN, _:
                return say(PLAN)
            case Phase.IMPLEMENT, 0:
                item, attempt = item_of(request)
                marks.note(item, len(msgspec.json.encode(request.messages)))
                content = f"item {item}.{attempt}"
                return call("write_note", path=f"{item % FILES}.txt", content=content)
            case Phase.IMPLEMENT, 1:
                return call("read_file", path=f"{item_of(request)[0] % FILES}.txt")
            case Phase.IMPLEMENT, _:
                return say(f"wrote thing {item_of(request)[0]}")
            case _:
                return say("All is done.")

    return play


@pytest.mark.anyio
@on_asyncio
async def test_an_item_costs_the_same_at_ten_and_at_a_thousand(tmp_path: Path) -> None:
    """The agent alone, with a model that answers at once."""
    marks = Marks(os.getpid())
    async with open_rig(tmp_path / "bench", scripted(marks)) as rig:
        _forget_requests(rig)
        with anyio.fail_after(600):
            run = await rig.go()
        assert (run.status, run.plan and run.plan.done) == (RunStatus.FINISHED, ITEMS)
        assert rig.content("7.txt") == "item 987.1"
    marks.tell("an item of a thousand, the agent alone")
    marks.check()


def _forget_requests(rig: Rig) -> None:
    """Have the rig keep no request: their memory is not the agent's."""

    class Nothing(list[ModelRequest]):
        def append(self, request: ModelRequest, /) -> None:
            del request

    rig.requests = Nothing()


@pytest.mark.timeout(1800)
def test_a_daemon_does_a_thousand_items(short_dir: Path) -> None:
    """The whole of it: a server of chat completions, the socket, the disk, the copies."""
    marks: list[Marks] = []

    def play(body: dict[str, object]) -> Reply:
        server.requests.clear()
        asked = asked_over_http(body)
        item = int(asked.opening.partition("<item number=")[2].split('"')[1] or 0) if (
            asked.phase is Phase.IMPLEMENT
        ) else 0  # fmt: skip
        match asked.phase, asked.turn:
            case Phase.RESEARCH, _:
                return text("# Research\nnothing is there")
            case Phase.PLAN, _:
                return text(PLAN)
            case Phase.IMPLEMENT, 0:
                marks[0].note(item, len(msgspec.json.encode(body)))
                written = {"path": f"{item % FILES}.txt", "content": f"item {item}\n"}
                return calls(wanted("write_text_file", written))
            case Phase.IMPLEMENT, 1:
                return calls(wanted("read_file", {"path": f"{item % FILES}.txt"}))
            case Phase.IMPLEMENT, _:
                return text(f"wrote thing {item}")
            case _:
                return text("All is done.")

    with model_server(play) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "KBD_MODEL": "openai:scripted"}
        daemon = RealDaemon(short_dir / "home", "asyncio", environment)
        daemon.start()
        try:
            marks.append(Marks(daemon.pid))
            workbench_id = daemon.workbench()
            daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="many things")
            run_id = daemon.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)["run_id"]
            # Asked for its state now and then only: a client that looks on is not what is measured.
            while daemon.ask("WorkshopGetState", workbench_id=workbench_id)["run_id"] is not None:
                time.sleep(0.5)
            run = daemon.ask("RunGet", run_id=run_id)
            assert run["status"] == "finished", run
            assert {item["state"] for item in run["items"]} == {"done"}
            found = daemon.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"]
            assert len(found) == FILES
        finally:
            daemon.stop()
    marks[0].tell("an item of a thousand, through a daemon")
    marks[0].check()
