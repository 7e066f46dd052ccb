"""What a turn of the agent costs itself, model apart: `python benchmarks/agent.py [rounds]`.

A scripted model answers at once, so what is measured is kbd: a turn's request made and measured,
its reply and its call recorded, the call run, each fact durable before the next step.

    conversation   a whole run of nine turns in a workbench with 10, 100 and 1,000 messages before;
                   beside it the raw limit of what is recorded: as many bare appends of 400 bytes,
                   each synced
    chain          a turn of one long chain, at its 10th, 100th and 1,000th, by processor time;
                   beside it the raw limit: the same request in bare JSON, which grows with it

The disk and the scheduler are not ours, so the gates are ratios in the same run, of processor time.
"""

import os
import random
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path

import anyio
import msgspec

from benchmarks._agents import Play, Workbench, opened
from benchmarks._measure import gate, table
from kbd.messages import ToolCall
from kbd.providers import ModelReply, ModelRequest
from kbd.types import CallId, Phase

LENGTHS = (10, 100, 1000)
"""Messages of a conversation before a run, and turns of a chain."""

AROUND = 20
"""So many turns before and after one are looked at: the least of them is what it costs, and what is
above it is the machine's."""

PLAN = "## Task\nadd up\n## Items\n- [ ] 1. Add up — read and answer\n## Notes\nnone"


def said(request: ModelRequest) -> int:
    """How many turns a chain has."""
    return sum(message.role == "assistant" for message in request.messages)


def call(number: int) -> ModelReply:
    """A reply that asks for a call, with some words before it."""
    return ModelReply(
        "I look at what there is. " * 4, (ToolCall(CallId(f"c{number}"), "list_files"),)
    )


def answer(request: ModelRequest) -> ModelReply:
    """Play a run of nine turns: research of three, a plan, an item of four, the summary."""
    turn = said(request)
    match request.phase:
        case Phase.RESEARCH if turn < 2:
            return call(turn)
        case Phase.IMPLEMENT if turn < 3:
            return call(turn)
        case Phase.PLAN:
            return ModelReply(PLAN)
        case _:
            return ModelReply("It comes to what it comes to. " * 8)


TURNS = 9
RAW = "bare appends, synced"


def conversations(folder: Path, rounds: int) -> bool:
    """Measure runs after conversations of several lengths, in random order, all in one loop."""
    names = [f"{n:,} messages" for n in LENGTHS]
    wall: dict[str, list[float]] = {name: [] for name in (RAW, *names)}
    processor: dict[str, list[float]] = {name: [] for name in names}
    order = random.Random(1)

    async def main() -> None:
        async with AsyncExitStack() as stack:
            benches: dict[str, Workbench] = {}
            for place, (name, length) in enumerate(zip(names, LENGTHS, strict=True)):
                benches[name] = await stack.enter_async_context(
                    opened(folder / f"conversation-{place}", answer)
                )
                await benches[name].converse(length)
            for turn in range(rounds + 1):
                for name in order.sample(names, len(names)):
                    log = benches[name].keeper.journal.log
                    events, began, used = log.seq, time.perf_counter(), time.process_time()
                    await benches[name].run()
                    spent = time.perf_counter() - began, time.process_time() - used
                    raw_s = appended(folder / "raw", log.seq - events)
                    if turn:  # the first one warms up
                        wall[name].append(spent[0] * 1e3 / TURNS)
                        processor[name].append(spent[1] * 1e3 / TURNS)
                        wall[RAW].append(raw_s * 1e3 / TURNS)

    anyio.run(main)
    medians = {name: statistics.median(each) for name, each in wall.items()}
    table("a turn of a run, by the conversation before it", "ms", medians, RAW)
    found = {name: min(each) for name, each in processor.items()}
    table("the same by processor time, the least", "ms", found, names[0])
    return gate("1,000 messages against 10", found[names[-1]] / found[names[0]], most=1.25)


def appended(path: Path, facts: int) -> float:
    """Append so many pieces of 400 bytes, each synced; return the seconds it takes."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        began = time.perf_counter()
        for _ in range(facts):
            os.write(fd, b"x" * 400)
            os.fdatasync(fd)
        return time.perf_counter() - began
    finally:
        os.close(fd)


class Stamps:
    """A model that plays one long chain, and notes when each turn was asked for.

    Args:
        turns: After so many it answers.
    """

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.asked_s: list[float] = []
        self.requests: dict[int, ModelRequest] = {}

    def play(self, request: ModelRequest) -> ModelReply:
        """Answer a turn."""
        if request.phase is not Phase.RESEARCH:
            return answer(request)
        turn = len(self.asked_s)
        self.asked_s.append(time.process_time())
        if turn in LENGTHS:
            self.requests[turn] = request
        return call(turn) if turn < self.turns else ModelReply("That is all.")

    def cost_ms(self, turn: int) -> float:
        """What a turn around this one cost, from one request to the next, by processor time."""
        near = self.asked_s[max(0, turn - AROUND) : turn + AROUND + 1]
        return min(b - a for a, b in pairwise(near)) * 1e3


def chain(folder: Path) -> Stamps:
    """Play one chain."""

    async def main(play: Play) -> None:
        async with opened(folder, play) as bench:
            await bench.converse(2)
            await bench.run()

    stamps = Stamps(max(LENGTHS) + AROUND + 1)
    anyio.run(main, stamps.play)
    return stamps


def encoded_ms(request: ModelRequest) -> float:
    """What the bare JSON of a request costs, by processor time."""
    began = time.process_time()
    for _ in range(10):
        msgspec.json.encode(request.messages)
        msgspec.json.encode(request.tools)
    return (time.process_time() - began) * 1e3 / 10


def chains(folder: Path, rounds: int) -> bool:
    """Measure the turns of long chains."""
    turns: dict[int, list[float]] = {n: [] for n in LENGTHS}
    bare: dict[int, list[float]] = {n: [] for n in LENGTHS}
    sizes: dict[int, int] = {}
    for turn in range(rounds):
        stamps = chain(folder / f"chain-{turn}")
        for length in LENGTHS:
            request = stamps.requests[length]
            turns[length].append(stamps.cost_ms(length))
            bare[length].append(encoded_ms(request))
            sizes[length] = len(msgspec.json.encode(request.messages))
    print("\na turn of one chain, by processor time, the least")
    print(f"  {'turn':>6} {'request':>12} {'bare JSON':>12} {'kbd':>12} {'kbd and bare JSON':>20}")
    own = {n: min(turns[n]) for n in LENGTHS}
    raw = {n: min(bare[n]) for n in LENGTHS}
    for n in LENGTHS:
        both = (own[n] + raw[n]) / raw[n]
        print(
            f"  {n:>6,} {sizes[n]:>10,} B {raw[n]:>9.3f} ms {own[n]:>9.3f} ms {both:>12.2f} x bare"
        )
    return gate("kbd's own at turn 1,000 against turn 10", own[1000] / own[10], most=1.5)


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        conversations(Path(name), rounds)
        chains(Path(name), max(3, rounds // 3))


if __name__ == "__main__":
    main()
