"""The words for what an event holds besides plain text: sizes, times, tokens, lists, outcomes."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from kbd.cli.placing import Place, Spent
from kbd.cli.terminal import counted, duration, money, size

__all__ = ["DERIVED", "Told", "trouble"]

FIELD_CHARACTERS = 400
"""How much of a field is looked at for a line; terminals are narrower."""

_TROUBLE = frozenset(
    {
        "EffectAborted", "ItemFailed", "ItemRetried", "ItemsRefused", "LandingsParked",
        "LogRepaired", "ModelFailed", "NoticeGiven", "PluginLeftOut", "PublishAborted", "RunFailed",
        "RunInterrupted", "ToolRefused", "WatchSuspended",
    }
)  # fmt: skip


class Told(dict[str, Any]):
    """An event's data as a template sees it; what the event leaves out is empty.

    Attributes:
        place: Where it belongs.

    Args:
        data: Its data.
        place: As the tracker says.
    """

    def __init__(self, data: dict[str, Any], place: Place) -> None:
        super().__init__(data)
        self.place = place

    def __getitem__(self, name: str) -> str:
        if name in DERIVED:
            return DERIVED[name](self)
        value = self.get(name, "")
        return value[:FIELD_CHARACTERS] if isinstance(value, str) else json.dumps(value)

    def __missing__(self, name: str) -> str:
        return ""


def trouble(kind: str, data: dict[str, Any]) -> bool:
    """Return whether an event tells of something that did not go as it should."""
    failed_call = kind == "ToolReturned" and not data.get("ok")
    return failed_call or kind in _TROUBLE or data.get("outcome") == "failed"


def _joined(texts: Iterable[object]) -> str:
    """Return the texts in their order, each once, with how often if several times."""
    counts = Counter(str(text) for text in texts)
    return ", ".join(text if count == 1 else f"{text} ×{count}" for text, count in counts.items())


def _all(of: str) -> Callable[[Told], str]:
    return lambda told: "; ".join(str(each) for each in told.get(of, ()))


def _tokens(spent: Spent, about: str = "") -> list[str]:
    if not spent.input_tokens and not spent.output_tokens:
        return []
    return [f"{about}{spent.input_tokens:,} in", f"{about}{spent.output_tokens:,} out"]


def _spent(told: Told) -> str:
    """Return how long what ends here took, and its turns, calls and tokens."""
    spent = told.place.spent
    if spent is None:
        return ""
    counts = [(spent.turns, "turn"), (spent.calls, "call")]
    parts = [counted(count, noun) for count, noun in counts if count]
    parts += _tokens(spent, "~" if told.get("usage_is_estimate") else "")
    counts_told = f" ({', '.join(parts)})" if parts else ""
    return f" in {duration(spent.seconds)}{counts_told}"


def _after(told: Told) -> str:
    spent = told.place.spent
    return f" after {duration(spent.seconds)}" if spent else ""


def _again(told: Told) -> str:
    """Return whether a failed turn is asked for again, and when."""
    if told.get("option"):
        return f", asked again without {told['option']}"
    if not told.get("retry_attempt"):
        return ", no retry"
    wait_ms = int(told.get("wait_ms", 0))
    return f", retry {told['retry_attempt']} in {duration(wait_ms / 1000)}"


def _replied(told: Told) -> str:
    """Return what a model asked for and said, and why it stopped if that is unusual."""
    parts = [_joined(each.get("name") for each in told.get("calls", ())), told["text"]]
    reason = told.get("finish_reason", "stop")
    unusual = f" [{reason}]" if reason not in {"stop", "tool_calls"} else ""
    said = " ".join(part for part in parts if part)
    return f"{unusual}: {said}" if said else unusual


def _item(told: Told) -> str:
    return f"item {told.get('item', 0)}"


def _begun(told: Told) -> str:
    """Return an item with its text, and the attempt if it is not the first."""
    of = f" of {told.place.items}" if told.place.items else ""
    attempt = int(told.get("attempt", 1))
    again = f", attempt {attempt}" if attempt > 1 else ""
    return f"{_item(told)}{of} started{again}{f': {told.place.label}' if told.place.label else ''}"


def _called(told: Told) -> str:
    given = told.place.arguments[:FIELD_CHARACTERS]
    return f"tool {told['tool']} called, entry {told['entry_id']}{f': {given}' if given else ''}"


def _returned(told: Told) -> str:
    tool = told.place.tools[0] if told.place.tools else "tool"
    took = duration(int(told.get("duration_ms", 0)) / 1000)
    worked = ", ".join(str(each.get("package", "")) for each in told.get("worked", ()))
    worked = worked or told.place.plugin
    by = f" ({worked})" if worked else ""
    if not told.get("ok"):
        why = str(told["shown"] or told["error_code"]).removeprefix("Error: ")
        return f"{tool} failed in {took}, entry {told['entry_id']}{by}: {why}"
    receipt = " as a receipt" if told.get("result") or told.get("blob") else ""
    told_size = size(int(told.get("size_bytes", 0)))
    return f"{tool} returned {told_size}{receipt} in {took}, entry {told['entry_id']}{by}"


def _refused(told: Told) -> str:
    return (told["shown"] or told["code"]).removeprefix("Error: ")


def _change(told: Told) -> str:
    if told.get("cause") == "rollback":
        return "rolled back"
    if told.get("after") is None:
        return "deleted"
    return "changed" if told.get("before") else "added"


def _sizes(told: Told) -> str:
    """Return a file's size, and what it was before."""
    after = size(int(told.get("size_bytes", 0))) if told.get("after") else ""
    before = size(int(told.get("before_size_bytes", 0))) if told.get("before") else ""
    if before and after:
        return f"{before} -> {after}"
    return after or (f"was {before}" if before else "gone")


def _warned(told: Told) -> str:
    warnings = told.get("warnings", ())
    return f", {counted(len(warnings), 'warning')}" if warnings else ""


def _files(told: Told) -> str:
    names = [str(each.get("name", "")) for each in told.get("files", ())]
    return f"{counted(len(names), 'file')}: {', '.join(names)}" if names else "no files"


def _took(told: Told) -> str:
    """Return how much of a workbench a fork took over, and up to which message."""
    how_much = {
        "clone_all": "all of it",
        "clone_files_and_context_no_chat": "files and context",
        "clone_files_only": "files",
    }.get(told["mode"], told["mode"])
    message = told["from_message_id"]
    return f"{how_much} as after message {message}" if message else how_much


def _rewound(told: Told) -> str:
    """Return to which message a conversation was set back, and why."""
    again = ", to answer it once more" if told.get("reason") == "regenerate" else ""
    kept = f", checkpoint {told['checkpoint_id']}" if told.get("checkpoint_id") else ""
    return f"set back to message {told['message_id']} (event {told['to_seq']}){again}{kept}"


def _published(told: Told) -> str:
    """Return what is carried out like a publish, with its name."""
    what = "undo" if told.get("rewind") else "restore" if told.get("restores") else "publish"
    return f"{what} {told['publish_id']}"


def _whose(told: Told) -> str:
    of = [part for part in (told["provider_id"], told["phase"]) if part]
    return f" of {', '.join(of)}" if of else ""


def _costing(told: Told) -> str:
    cost = float(told.get("cost", 0.0))
    return f" ({money(cost)})" if cost else ""


def _rule(told: Told) -> str:
    rule = told.get("rule", {})
    return f"{rule.get('folder', '')} ({rule.get('name', '')})"


def _landings(told: Told) -> str:
    """Name landed files by the numbers of the events that tell of them."""
    numbers = [str(number) for number in told.get("landings", ())]
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    return f"no. {', '.join(numbers[:5])}{more}"


def _became(told: Told) -> str:
    match told.get("outcome", ""):
        case "moved":
            return f", known before as {told['moved_from']}: no run"
        case "own":
            return ", written by kbd itself: no run"
        case "failed":
            return f", put aside: {told['code']}: {told['message']}"
        case _:
            return ""


def _ended(told: Told) -> str:
    if told.get("outcome") == "failed":
        again = "to be tried again: " if told.get("retry_at_us") else ""
        return f"failed, {again}{told['code']}: {told['message']}"
    delivered = ", ".join(told.get("delivered", ()))
    return f"{told['outcome']}{f', delivered {delivered}' if delivered else ''}"


def _exit(told: Told) -> str:
    code = told.get("exit_code")
    return f" with code {code}" if code is not None else f" badly: {told['message']}"


DERIVED: dict[str, Callable[[Told], str]] = {
    "after": _after,
    "again": _again,
    "agreed": lambda told: ", with consent" if told.get("consent") else "",
    "attempt": lambda told: str(told.get("attempt", 1)),
    "became": _became,
    "because": lambda told: f": {told['reason']}" if told.get("reason") else "",
    "begun": _begun,
    "called": _called,
    "change": _change,
    "costing": _costing,
    "count": lambda told: counted(len(told.get("items", ())), "item"),
    "ended": _ended,
    "exit": _exit,
    "files": _files,
    "items": _all("items"),
    "landings": _landings,
    "names": _all("names"),
    "passed": lambda told: counted(len(told.get("files", ())), "file"),
    "published": _published,
    "refused": _refused,
    "replied": _replied,
    "returned": _returned,
    "rewound": _rewound,
    "rule": _rule,
    "run": lambda told: f"run {told.place.run}" if told.place.run else "run",
    "sent": lambda told: size(int(told.get("bytes_out", 0))),
    "size": lambda told: size(int(told.get("size_bytes", 0))),
    "sizes": _sizes,
    "source": lambda told: f" from {told['source_name']}" if told.get("source_name") else "",
    "spent": _spent,
    "took": _took,
    "warned": _warned,
    "whose": _whose,
    "watch": lambda told: str(told.get("watch_id", ""))[:8],
    "written": lambda told: counted(len(told.get("hashes", ())), "file"),
}
"""What a template may name beside the fields of its event."""
