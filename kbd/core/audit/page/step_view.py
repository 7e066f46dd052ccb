"""View of one step on the page: its line in the list, the step in full, and its text blocks.

Short texts are whole, long ones begun, with the rest a click away. JSON text is laid out for
reading. Only white space is changed: numbers, escapes and the order of keys stay as they were
written, since a page that is read as evidence must not show another value than was sent. What fits
on a line stays on one.
"""

import re
from itertools import groupby

import msgspec

from kbd.core.audit.html.markup import Html, clock, count, duration, element, joined, size, text
from kbd.core.audit.page.run_index import PlanChange, RunIndex
from kbd.figures import client_text
from kbd.messages import Message
from kbd.requests.replays import CallStep, FileStep, ModelStep, NestedStep, Step, StepCall
from kbd.types import BlobHash

__all__ = [
    "KINDS",
    "badge",
    "format_json",
    "icon",
    "link",
    "note",
    "render_article",
    "render_block",
    "render_data",
    "render_row",
]


MAX_COLUMNS = 80
"""Columns that a value may take on its line."""

MAX_DEPTH = 40
"""Levels that are broken into lines; what lies deeper stays on one."""

# What well-formed JSON is made of.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')

_ESCAPE = re.compile(r"\\.")

_ENDS = {"{": "}", "[": "]"}


class _Group(msgspec.Struct):
    """An array or object: its bracket, and its members as lists of tokens and groups."""

    bracket: str
    members: list[list["str | _Group"]]
    width: int = 2


def format_json(text: str) -> str:
    """Return JSON text in lines; any other text, or a mere string, as it is."""
    begun = text.lstrip()[:1]
    if begun not in _ENDS:
        return text
    try:
        msgspec.json.decode(text)
    # The decoder is given UTF-8, which cannot hold a lone surrogate.
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text
    lines: list[str] = []
    _write_value(_parse_json(text), lines, "", "", "", 0)
    return "\n".join(lines)


def _parse_json(text: str) -> _Group:
    """Return well-formed JSON, which is an array or object, as a tree of its tokens."""
    top = _Group("", [[]])
    open_groups = [top]
    for token in _TOKEN.findall(text):
        group = open_groups[-1]
        match token:
            case "{" | "[":
                open_groups.append(_Group(token, [[]]))
            case "}" | "]":
                open_groups.pop()
                outer = open_groups[-1]
                outer.members[-1].append(group)
                outer.width += group.width
            case ",":
                group.members.append([])
                group.width += 2
            case _:
                group.members[-1].append(token)
                group.width += len(token) + (token == ":")
    found = top.members[0][0]
    assert isinstance(found, _Group)  # well-formed, and begun with a bracket
    return found


def _write_value(
    value: "str | _Group", lines: list[str], indent: str, before: str, after: str, depth: int
) -> None:
    """Add the lines of a value; `before` and `after` stand on its first and last one."""
    if isinstance(value, str):
        lines.append(f"{indent}{before}{_break_string(value, indent)}{after}")
        return
    room = MAX_COLUMNS - len(indent) - len(before) - len(after)
    if value.width <= room or depth >= MAX_DEPTH or value.members == [[]]:
        lines.append(f"{indent}{before}{_format_inline(value)}{after}")
        return
    lines.append(f"{indent}{before}{value.bracket}")
    last = len(value.members) - 1
    for at, member in enumerate(value.members):
        # A member of an object is its name, the colon and its value; one of an array is a value
        # alone.
        key = f"{member[0]}: " if len(member) == 3 else ""
        comma = "" if at == last else ","
        _write_value(member[-1], lines, indent + "  ", key, comma, depth + 1)
    lines.append(f"{indent}{_ENDS[value.bracket]}{after}")


def _format_inline(value: "str | _Group") -> str:
    """Return a value without line breaks, however deep it is."""
    written: list[str] = []
    todo: list[str | _Group] = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            written.append(f"{part} " if part in {":", ","} else part)
            continue
        written.append(part.bracket)
        todo.append(_ENDS[part.bracket])
        for at, member in reversed(list(enumerate(part.members))):
            todo.extend(reversed(member))
            if at:
                todo.append(",")
    return "".join(written)


def _break_string(token: str, indent: str) -> str:
    """Return a token; if it is a long string, with a line break behind each that it spells."""
    if len(token) + len(indent) <= MAX_COLUMNS:
        return token
    return _ESCAPE.sub(lambda found: found[0] + (f"\n{indent}  " * (found[0] == r"\n")), token)


MAX_TEXT_CHARACTERS = 64 * 1024
"""How much of one text the page holds; the log has all of it."""

PREVIEW_LINES = 24
PREVIEW_CHARACTERS = 3000
"""What is shown of a long text at once."""

PREVIEW_SLACK = 1.3
"""A text that is only so much longer is shown whole: the rest would not be worth a click."""


def render_data(words: str | None, keeper: str) -> Html:
    """Render arguments or a result, JSON laid out for reading; None if the page does not hold it.

    Args:
        words: The text.
        keeper: Where the log has it: "blob …".
    """
    if words is None:
        return note(f"Not in this page: the log keeps it in {keeper}.")
    return render_block(format_json(words), "json")


def render_block(words: str, kind: str = "words", begun_lines: int = PREVIEW_LINES) -> Html:
    """Render a text as it is, in its lines: so many at once if it is long."""
    shown = words[:MAX_TEXT_CHARACTERS]
    begun, rest = _split_text(shown, begun_lines)
    parts = [_render_pre(begun, kind)]
    if rest:
        lines = rest.count("\n") + 1
        more = count(lines, "more line") if lines > 1 else count(len(rest), "more character")
        summary = element("summary", {}, text(f"Show all: {more}"))
        parts.append(element("details", {"class": "rest"}, summary, _render_pre(rest, kind)))
    if len(shown) < len(words):
        parts.append(note("Cut here; the log has all of it."))
    return joined(parts)


def note(words: str) -> Html:
    """Return a note about what is shown."""
    return element("p", {"class": "note"}, text(words))


def _render_pre(words: str, kind: str) -> Html:
    # A browser drops a line feed that comes first in such an element.
    begun = "\n" if words.startswith("\n") else ""
    return element("pre", {"class": kind, "dir": "auto"}, text(begun + words))


def _split_text(words: str, begun_lines: int) -> tuple[str, str]:
    """Return what is shown of a text at once, and what is left."""
    lines = words.split("\n", int(begun_lines * PREVIEW_SLACK))
    long = len(lines) > begun_lines * PREVIEW_SLACK
    if not long and len(words) <= PREVIEW_CHARACTERS * PREVIEW_SLACK:
        return words, ""
    begun = "\n".join(lines[:begun_lines])
    if len(begun) > PREVIEW_CHARACTERS:
        begun = begun[:PREVIEW_CHARACTERS]
        at = begun.rfind("\n") if begun.rfind("\n") > PREVIEW_CHARACTERS // 2 else len(begun)
        begun = begun[:at]
    return begun, words[len(begun) :].removeprefix("\n")


KINDS = {
    "asked": "request", "run": "run", "phase": "phase", "model": "model turn", "tool": "tool call",
    "refused": "refused call", "research": "research", "plan": "plan", "item": "item",
    "summary": "summary", "draft": "draft", "other": "other",
}  # fmt: skip
"""What the kinds of steps are called."""

MESSAGE_LINES = 10
"""How much is shown at once of a message that a chain begins with: most are kbd's own."""

_ROLES = {"system": "Instructions", "user": "Request", "assistant": "Model", "tool": "Tool"}


def icon(kind: str) -> Html:
    """Return the sign of a kind of step."""
    use = element("use", {"href": f"#i-{kind}"})
    return element("svg", {"class": "icon", "aria-hidden": "true", "viewBox": "0 0 16 16"}, use)


def badge(words: str, kind: str = "") -> Html:
    """Return a word that stands out."""
    return element("span", {"class": f"badge {kind}".rstrip()}, text(words))


def link(step: int, words: str = "") -> Html:
    """Return a link to a step."""
    return element("a", {"href": f"#step-{step}"}, text(words or f"step {step}"))


def render_row(step: Step) -> Html:
    """Return a step's line in the list; what it is filtered by stands in its attributes."""
    marks = []
    if step.place.is_failure:
        marks.append(_render_mark("bad", "failed", "!"))
    if step.files:
        marks.append(_render_mark("changed", "changed files", "●"))
    lasted = duration(step.duration_ms) if step.duration_ms else ""
    anchor = element(
        "a",
        {"href": f"#step-{step.index}"},
        icon(step.kind),
        element("span", {"class": "number"}, text(str(step.index))),
        element("span", {"class": "title"}, text(step.title)),
        *marks,
        element("span", {"class": "lasted"}, text(lasted)),
    )
    attributes = {
        "data-step": step.index,
        "data-kind": step.kind,
        "data-phase": step.phase.value if step.phase else None,
        "data-item": step.item or None,
        "data-tool": step.call.tool if step.call else None,
        "data-failed": step.place.is_failure,
        "data-changed": bool(step.files),
        "class": "bad" if step.place.is_failure else None,
    }
    return element("li", attributes, anchor)


def _render_mark(kind: str, label: str, sign: str) -> Html:
    attributes = {"class": kind, "role": "img", "aria-label": label, "title": label}
    return element("b", attributes, text(sign))


def render_article(step: Step, run_index: RunIndex, place: str) -> Html:
    """Return a step in full; `place` is where it stands on the timeline, in percent."""
    parts = [_render_head(step)]
    if step.text:
        parts.append(render_block(step.text))
    if step.model:
        parts.extend(_render_turn(step.index, step.model, run_index))
    if step.call:
        parts.extend(_render_call(step, step.call, run_index))
    if step.index in run_index.changes:
        parts.append(_render_plan(run_index.changes[step.index]))
    if step.files:
        parts.append(_render_files(step.files))
    attributes = {
        "id": f"step-{step.index}",
        "class": "bad" if step.place.is_failure else None,
        "data-at": place,
        "aria-labelledby": f"title-{step.index}",
    }
    return element("article", attributes, *parts)


def _render_head(step: Step) -> Html:
    facts = [KINDS[step.kind]]
    if step.place.text:
        facts.append(step.place.text)
    facts.append(f"{clock(step.ts)} UTC")
    if step.duration_ms:
        facts.append(duration(step.duration_ms))
    if step.actor is not None:
        facts.append(f"by {client_text(step.actor.client, step.actor.version)}")
    seqs = f"{step.first_seq}–{step.seq}" if step.first_seq != step.seq else f"{step.seq}"
    facts.append(f"event{'s' if step.first_seq != step.seq else ''} {seqs}")
    title = element(
        "h3",
        {"id": f"title-{step.index}"},
        icon(step.kind),
        element("span", {"class": "number"}, text(str(step.index))),
        element("span", {"class": "title"}, text(step.title)),
    )
    facts_line = element(
        "p", {"class": "facts"}, *(element("span", {}, text(fact)) for fact in facts)
    )
    return element("header", {}, title, facts_line)


def _render_section(title: str, *parts: Html) -> Html:
    return element("section", {}, element("h4", {}, text(title)), *parts)


def _render_turn(index: int, model: ModelStep, run_index: RunIndex) -> list[Html]:
    reply = [render_block(model.text)] if model.text else []
    if model.is_open:
        reply.append(note("No answer is recorded."))
    elif not model.text:
        reply.append(note("No words, only calls." if model.calls else "Nothing."))
    parts = [_render_section("What the model was sent", *_render_messages(index, model, run_index))]
    if model.failures:
        tried = (element("li", {}, text(failure)) for failure in model.failures)
        parts.append(
            _render_section("Attempts that failed", element("ul", {"class": "bad"}, *tried))
        )
    parts.append(_render_section("What it said", *reply))
    if model.calls:
        asked = [_render_calls(call, run_index) for call in model.calls]
        parts.append(_render_section("What it asked for", *asked))
    parts.append(_render_usage(model, run_index))
    return parts


def _render_messages(index: int, model: ModelStep, run_index: RunIndex) -> list[Html]:
    first = run_index.chains[index]
    parts = []
    if first != index:
        begun, since = text("The messages of "), text(", and the answers and results since, up to ")
        parts.append(element("p", {}, begun, link(first), since, link(index - 1), text(".")))
    elif index in run_index.openings:
        parts.extend(
            _render_message(message, sum(1 for _ in alike))
            for message, alike in groupby(run_index.openings[index])
        )
    else:
        label = f"Not in this page: the log keeps the opening messages as blob {model.opening}."
        parts.append(note(label))
    choice = {"required": "one must be called", "none": "none may be called"}
    label = f"{count(len(model.tools), 'tool')} offered"
    if model.tool_choice in choice:
        label += f", {choice[model.tool_choice]}"
    names = element("p", {"class": "names"}, *(element("code", {}, text(n)) for n in model.tools))
    summary = element("summary", {}, text(label))
    parts.append(element("details", {"class": "tools-offered"}, summary, names))
    return parts


def _render_message(message: Message | int, times: int) -> Html:
    if isinstance(message, int):
        begun = "A message" if times == 1 else f"{times} messages"
        reference = [text(f"{begun} as in "), link(message), text(".")]
        return element("p", {"class": "note"}, *reference)
    role = element("span", {"class": "role"}, text(_ROLES[message.role]))
    calls = [render_block(f"{call.name} {call.arguments}") for call in message.tool_calls]
    return element(
        "div",
        {"class": "message"},
        role,
        render_block(message.text, begun_lines=MESSAGE_LINES),
        *calls,
    )


def _render_calls(call: StepCall, run_index: RunIndex) -> Html:
    facts = [element("code", {"class": "tool"}, text(call.tool))]
    if call.call_id in run_index.called:
        facts.append(link(run_index.called[call.call_id]))
    if call.fault:
        facts.append(badge(call.fault, "bad"))
    given = _render_text(call.arguments, call.blob, run_index)
    return element("div", {"class": "asked"}, element("p", {}, *facts), given)


def _render_usage(model: ModelStep, run_index: RunIndex) -> Html:
    used = model.usage
    facts = [f"{count(used.input_tokens)} tokens in", f"{count(used.output_tokens)} out"]
    if not used.input_tokens and not used.output_tokens:
        facts = ["no tokens counted"]
    if model.finish_reason:
        facts.append(f"ended with {model.finish_reason}")
    facts.append(f"{model.model_id}, turn {model.turn}")
    parts = [element("span", {}, text(fact)) for fact in facts]
    if run_index.max_tokens:
        both = (used.input_tokens + used.output_tokens) / run_index.max_tokens * 100
        out = used.output_tokens / run_index.max_tokens * 100
        bars = (
            element("rect", {"class": kind, "width": f"{wide:.2f}%", "height": 6})
            for kind, wide in (("tokens-in", both), ("tokens-out", out))
        )
        parts.append(element("svg", {"class": "used", "aria-hidden": "true"}, *bars))
    return element("footer", {"class": "facts"}, *parts)


def _render_call(step: Step, call: CallStep, run_index: RunIndex) -> list[Html]:
    facts = [element("code", {"class": "tool"}, text(call.tool))]
    if call.entry_id:
        facts.append(element("span", {}, text(f"no. {call.entry_id} of the tool log")))
    if call.call_id in run_index.asked:
        asked = link(run_index.asked[call.call_id])
        facts.append(element("span", {}, text("asked for in "), asked))
    if call.error_code:
        facts.append(badge(call.error_code, "bad"))
    if call.is_open:
        facts.append(badge("its end is not recorded: it wrote nothing"))
    given = _render_text(call.arguments, call.arguments_blob, run_index)
    parts = [element("p", {"class": "facts"}, *facts), _render_section("Arguments", given)]
    has_more = bool(call.result or call.blob)
    if call.shown:
        title = "What the model saw" if has_more or not call.ok else "Result, as the model saw it"
        parts.append(_render_section(title, render_data(call.shown, "")))
    if has_more:
        result = (
            render_data(None, f"event {step.seq}")
            if step.index in run_index.left_out
            else _render_text(call.result, call.blob, run_index)
        )
        parts.append(_render_section(f"Whole result, {size(call.size_bytes)}", result))
    if call.nested:
        parts.append(_render_section("Steps", *map(_render_nested, call.nested)))
    if call.plugins:
        worked = (element("li", {}, text(plugin)) for plugin in call.plugins)
        summary = element("summary", {}, text(f"Done by {count(len(call.plugins), 'plugin')}"))
        listed = element("ul", {"class": "hashes"}, *worked)
        parts.append(element("details", {"class": "tools-offered"}, summary, listed))
    return parts


def _render_nested(made: NestedStep) -> Html:
    """Show a call that a call made, with what it was given."""
    facts = [element("code", {"class": "tool"}, text(made.tool))]
    if made.job:
        facts.append(element("span", {}, text(f"job {made.job[:12]}")))
    if made.error_code:
        facts.append(badge(made.error_code, "bad"))
    given = render_data(made.arguments, "")
    return element("div", {}, element("p", {"class": "facts"}, *facts), given)


def _render_text(words: str, blob: BlobHash | None, run_index: RunIndex) -> Html:
    """Show a text that lies in the step or, if it was too long for the log, in a blob."""
    return render_data(run_index.contents.get(blob) if blob else words, f"blob {blob}")


def _render_plan(change: PlanChange) -> Html:
    rows = (
        element(
            "li",
            {"value": item.index, "data-state": item.state},
            badge(item.state, item.state),
            text(" " + item.text),
            *([element("span", {"class": "reason"}, text(item.reason))] if item.reason else []),
        )
        for item in change.items
    )
    return _render_section("Plan", element("ol", {"class": "items"}, *rows))


def _render_files(files: tuple[FileStep, ...]) -> Html:
    parts = []
    for file in files:
        sizes = [size(value) for value in (file.before_size_bytes, file.size_bytes) if value]
        facts = [
            element("strong", {}, text(file.path)),
            badge(file.change),
            element("span", {}, text(" → ".join(sizes))),
        ]
        hashes = (
            element("li", {}, text(f"{when} {value}"))
            for when, value in (("before", file.before), ("after", file.after))
            if value
        )
        warned = (element("li", {}, text(warning)) for warning in file.warnings)
        parts.append(
            element(
                "div",
                {"class": "file"},
                element("p", {"class": "facts"}, *facts),
                element("ul", {"class": "hashes"}, *hashes),
                *([element("ul", {"class": "warnings"}, *warned)] if file.warnings else []),
            )
        )
    return _render_section("Files changed", joined(parts))
