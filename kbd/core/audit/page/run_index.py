"""Index of a run's steps: what one step's part of the page needs to know of the others."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kbd.core.audit.html.markup import parse_time_ms
from kbd.messages import Message
from kbd.requests.replays import FileStep, ItemStep, Step
from kbd.types import BlobHash, CallId

__all__ = [
    "CONTENTS_LIMIT_CHARACTERS",
    "PlanChange",
    "RunIndex",
    "blobs_of",
    "file_versions",
    "index_steps",
    "step_span_ms",
]

CONTENTS_LIMIT_CHARACTERS = 8 * 1024 * 1024
"""How much of blobs and whole results the page holds."""


class PlanChange(msgspec.Struct, frozen=True):
    """The items that a step added or changed, and how many the plan had since."""

    step: int
    items: tuple[ItemStep, ...]
    total: int


class RunIndex(msgspec.Struct, frozen=True, kw_only=True):
    """Index of all steps, by what others refer to.

    Args:
        steps: In order.
        contents: The texts of the blobs that the page holds.
        left_out: The blobs, and the steps of calls with their results, that it does not hold.
        called: The step of each call.
        asked: The step in which the model asked for each call.
        chains: For each turn's step, the step of its chain's first turn.
        openings: For each chain's first turn, the opening messages; a message is given as the
            step that showed the same one before.
        max_tokens: What the dearest turn consumed.
        changes: What each step changed in the plan.
    """

    steps: Sequence[Step]
    contents: Mapping[BlobHash, str]
    left_out: frozenset[BlobHash | int]
    called: Mapping[CallId, int]
    asked: Mapping[CallId, int]
    chains: Mapping[int, int]
    openings: Mapping[int, Sequence[Message | int]]
    max_tokens: int
    changes: Mapping[int, PlanChange]


def index_steps(steps: Sequence[Step], contents: Mapping[BlobHash, str]) -> RunIndex:
    """Index all steps in one pass."""
    included, left_out = _within_limit(steps, contents)
    called: dict[CallId, int] = {}
    asked: dict[CallId, int] = {}
    chains: dict[int, int] = {}
    first = 0
    max_tokens = 0
    opening: BlobHash | None = None
    for step in steps:
        if step.call:
            called[step.call.call_id] = step.index
        if step.model:
            # A chain that is begun afresh counts its turns from 1 again; its opening may be the
            # same.
            if step.model.turn == 1 or step.model.opening != opening:
                first, opening = step.index, step.model.opening
            chains[step.index] = first
            asked.update({call.call_id: step.index for call in step.model.calls})
            max_tokens = max(
                max_tokens, step.model.usage.input_tokens + step.model.usage.output_tokens
            )
    return RunIndex(
        steps=steps,
        contents=included,
        left_out=left_out,
        called=called,
        asked=asked,
        chains=chains,
        openings=_openings(steps, chains, included),
        max_tokens=max_tokens,
        changes={change.step: change for change in _plan_changes(steps)},
    )


def blobs_of(steps: Sequence[Step]) -> tuple[BlobHash, ...]:
    """Return the blobs whose texts belong into the page, each once, in the order of the steps.

    They are the messages that open a chain, and arguments and results that the log keeps apart;
    the versions of files are not among them.
    """
    found: dict[BlobHash, None] = {}
    for step in steps:
        for blob in _step_blobs(step):
            found[blob] = None
    return tuple(found)


def step_span_ms(step: Step) -> tuple[float, float]:
    """Return when a step began and ended, in milliseconds since 1970.

    What tells of an end (of a phase, an item, the run) says how long that took, but is a moment.
    """
    start = parse_time_ms(step.ts)
    return start, start + (step.duration_ms if step.model or step.call else 0)


def _plan_changes(steps: Sequence[Step]) -> Iterator[PlanChange]:
    """Yield the plan change of each step that has one."""
    before: tuple[ItemStep, ...] = ()
    for step in steps:
        if step.items and step.items != before:
            unchanged = set(before)
            changed = tuple(item for item in step.items if item not in unchanged)
            yield PlanChange(step.index, changed, len(step.items))
            before = step.items


def file_versions(steps: Sequence[Step]) -> dict[str, list[tuple[Step, FileStep]]]:
    """Return the history of each file that was changed, by its name, sorted."""
    found: dict[str, list[tuple[Step, FileStep]]] = {}
    for step in steps:
        for file in step.files:
            found.setdefault(file.path, []).append((step, file))
    return dict(sorted(found.items()))


def _step_blobs(step: Step) -> Iterator[BlobHash]:
    if step.model:
        yield step.model.opening
        yield from (call.blob for call in step.model.calls if call.blob)
    if step.call:
        yield from (blob for blob in (step.call.arguments_blob, step.call.blob) if blob)


def _within_limit(
    steps: Sequence[Step], contents: Mapping[BlobHash, str]
) -> tuple[dict[BlobHash, str], frozenset[BlobHash | int]]:
    """Return the texts that fit into the page, oldest first, and which do not."""
    included: dict[BlobHash, str] = {}
    left_out: set[BlobHash | int] = set()
    room = CONTENTS_LIMIT_CHARACTERS
    for step in steps:
        for blob in _step_blobs(step):
            if blob in included or blob in left_out:
                continue
            text = contents.get(blob)
            if text is None or len(text) > room:
                left_out.add(blob)
            else:
                included[blob] = text
                room -= len(text)
        if step.call and step.call.result:
            if len(step.call.result) > room:
                left_out.add(step.index)
            else:
                room -= len(step.call.result)
    return included, frozenset(left_out)


def _openings(
    steps: Sequence[Step], chains: Mapping[int, int], contents: Mapping[BlobHash, str]
) -> dict[int, list[Message | int]]:
    """Return the messages that open each chain; one that was shown before, as its step."""
    shown: dict[Message, int] = {}
    found: dict[int, list[Message | int]] = {}
    for step in steps:
        if step.model and chains[step.index] == step.index and step.model.opening in contents:
            text = contents[step.model.opening]
            try:
                messages = msgspec.json.decode(text, type=list[Message])
            except (msgspec.DecodeError, RecursionError):
                # A blob that is no list of messages is shown as it is, rather than not at all.
                messages = [Message("user", text)]
            found[step.index] = [
                message if shown.setdefault(message, step.index) == step.index else shown[message]
                for message in messages
            ]
    return found
