"""Text of records and steps: JSON unfolded for people, a step's line in a list, the step in full.

What is returned is lines of text as it was recorded; whoever prints them cleans them. A record is
fields below each other, with JSON inside texts unfolded:

call_id   c1
calls
  - name  write_text_file
    arguments
      path     notes.txt
      content
        first line
        second line
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kbd.cli.log_reader import event_actor
from kbd.cli.terminal import cell_width, duration, line, size

__all__ = [
    "MARKS",
    "contains_text",
    "indent_lines",
    "render_facts",
    "render_fields",
    "render_headline",
    "render_plan",
    "render_step",
    "render_value",
    "truncate_lines",
]


INLINE_CHARACTERS = 72
"""What is no longer than this, and has nothing to unfold, stands on one line as JSON."""

NAME_COLUMNS = 24
"""The widest column of names; longer ones push their value on."""


def render_value(value: Any) -> list[str]:
    """Render a JSON value as lines.

    Args:
        value: A text that is itself a JSON object or array is unfolded, too.
    """
    value = _parse_embedded(value)
    match value:
        case dict() if value and not _is_short(value):
            return [text for lines in render_fields(value) for text in lines]
        case list() if value and not _is_short(value):
            return [text for inner in value for text in _render_item(render_value(inner))]
        case str():
            # A line end at the end of a text begins no further line.
            return value.removesuffix("\n").split("\n") if value else ['""']
        case _:
            return [json.dumps(value, ensure_ascii=False)]


def render_fields(record: dict[str, Any]) -> list[list[str]]:
    """Return the lines of each field of a record: its name beside its value, or above it."""
    width = min(max(map(cell_width, record), default=0), NAME_COLUMNS)
    found: list[list[str]] = []
    for name, value in record.items():
        inner = render_value(value)
        if len(inner) == 1:
            found.append([f"{name}{' ' * (width - cell_width(name))}  {inner[0]}"])
        else:
            found.append([name, *indent_lines(inner)])
    return found


def truncate_lines(lines: list[str], characters: int) -> list[str]:
    """Truncate lines to so many characters; a last line counts what is left out."""
    taken = 0
    for place, text in enumerate(lines):
        if taken + len(text) > characters:
            more = sum(len(each) + 1 for each in lines[place:]) - (characters - taken) - 1
            head = text[: characters - taken]
            return [*lines[:place], *([head] if head else []), f"… {more:,} characters more"]
        taken += len(text) + 1
    return lines


def indent_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines two columns further in."""
    return [f"  {text}" if text else "" for text in lines]


def _render_item(lines: list[str]) -> list[str]:
    return [f"- {lines[0]}", *indent_lines(lines[1:])]


def _parse_embedded(value: Any) -> Any:
    """Return what a text says if it is a JSON object or array, else the value itself."""
    if isinstance(value, str) and value[:1] in {"{", "["} and value[-1:] in {"}", "]"}:
        try:
            return json.loads(value)
        # What is nested too deeply to be read is shown as the text that it is.
        except (ValueError, RecursionError):
            return value
    return value


def _is_short(value: Any) -> bool:
    """Return whether a record or list is short and hides nothing when it is written as JSON."""
    text = json.dumps(value, ensure_ascii=False)
    return len(text) <= INLINE_CHARACTERS and "\\" not in text


Step = dict[str, Any]

MARKS = {"open": " ", "active": ">", "done": "x", "failed": "!"}
"""What stands before an item of a plan."""


def render_headline(step: Step) -> str:
    """Return a step in one line."""
    took = f"  ({duration(step['duration_ms'] / 1000)})" if step.get("duration_ms") else ""
    actor = event_actor(step)
    by = f"  by {line(actor)}" if actor else ""
    return f"#{step['index']}  {step['ts'][11:19]}  {step['kind']:<8}  {step['title']}{by}{took}"


def render_facts(step: Step) -> str:
    """Return where a step belongs: its events, phase, item, attempt, time."""
    first, last = step["first_seq"], step["seq"]
    parts = [f"event {last}" if first == last else f"events {first}-{last}"]
    if text := step.get("place", {}).get("text"):
        parts.append(text)
    if step.get("duration_ms"):
        parts.append(duration(step["duration_ms"] / 1000))
    return ", ".join(parts)


def render_step(step: Step, result: str | None = None) -> list[str]:
    """Render a step in full.

    Args:
        step: The step.
        result: The whole result of its call, to be told beside what the model saw of it; None to
            say only that there is one.
    """
    lines = step["text"].splitlines() if step.get("text") else []
    if "model" in step:
        lines += _render_turn(step["model"])
    if "call" in step:
        lines += _render_call(step["call"], result)
    if step.get("files"):
        lines += ["in the draft:", *indent_lines(_render_files(step["files"]))]
    if step.get("items") and step["kind"] != "plan":
        lines.append(f"the plan: {_render_plan_line(step['items'])}")
    return lines


def render_plan(items: list[dict[str, Any]]) -> list[str]:
    """Return a plan, an item a line."""
    lines: list[str] = []
    for item in items:
        lines.append(f"[{MARKS.get(item['state'], '?')}] {item['index']}. {item['text']}")
        if item.get("reason"):
            lines.append(f"      {item['reason']}")
    return lines


def contains_text(step: dict[str, Any], wanted: str) -> bool:
    """Return whether a step contains a text; the plan is left out, for every item has it."""
    return any(wanted in text.casefold() for name in step if name not in ("items", "place")
               for text in _step_texts(step[name]))  # fmt: skip


def _render_plan_line(items: list[dict[str, Any]]) -> str:
    """Return in one line which items stand how: "1-2 done, 3 active, 4-9 open"."""
    spans: list[tuple[str, int, int]] = []
    for item in items:
        if spans and spans[-1][0] == item["state"]:
            spans[-1] = (item["state"], spans[-1][1], item["index"])
        else:
            spans.append((item["state"], item["index"], item["index"]))
    return ", ".join(
        f"{first} {state}" if first == last else f"{first}-{last} {state}"
        for state, first, last in spans
    )


def _render_turn(model: dict[str, Any]) -> list[str]:
    lines = [f"model: {model['model_id']}, turn {model['turn']}"]
    if tools := model.get("tools"):
        # A conversation is offered the same tools again and again.
        named = f": {', '.join(tools)}" if model["turn"] == 1 else ""
        choice = model.get("tool_choice", "auto")
        lines.append(f"offered {len(tools)} tools, {choice}{named}")
    lines += [f"failed: {failure}" for failure in model.get("failures", ())]
    if model.get("is_open"):
        return [*lines, "no answer is recorded"]
    if model.get("text"):
        lines += ["said:", *indent_lines(model["text"].splitlines())]
    for call in model.get("calls", ()):
        lines += [f"asked for {call['tool']}:", *indent_lines(_render_arguments(call, "blob"))]
        if call.get("fault"):
            lines.append(f"  ill-formed: {call['fault']}")
    usage = model.get("usage", {})
    used = f"{usage.get('input_tokens', 0):,} tokens in, {usage.get('output_tokens', 0):,} out"
    return [*lines, f"ended: {model.get('finish_reason') or 'stop'}; {used}"]


def _render_arguments(call: dict[str, Any], blob: str) -> list[str]:
    if call.get("arguments"):
        return render_value(call["arguments"])
    return [f"kept as blob {call[blob]}"] if call.get(blob) else ["none"]


def _render_call(call: dict[str, Any], result: str | None) -> list[str]:
    entry = f", no. {call['entry_id']} of the tool log" if call.get("entry_id") else ""
    lines = [f"tool: {call['tool']}{entry}"]
    lines += ["arguments:", *indent_lines(_render_arguments(call, "arguments_blob"))]
    if call.get("is_open"):
        return [*lines, "its end is not recorded: it wrote nothing"]
    shown = call.get("shown", "")
    how = "" if call.get("ok") else f" ({call.get('error_code')})"
    lines += [f"the model saw{how}:", *indent_lines(render_value(shown))]
    if call.get("result") or call.get("blob"):
        length = size(call.get("size_bytes", 0))
        if result is None:
            lines.append(f"the whole result has {length}")
        else:
            lines += [f"the whole result, {length}:", *indent_lines(render_value(result))]
    if call.get("nested"):
        lines += ["steps:", *indent_lines(_render_nested(call["nested"]))]
    if call.get("plugins"):
        lines += ["plugins:", *(f"  {_render_plugin(plugin)}" for plugin in call["plugins"])]
    return lines


def _render_nested(steps: list[dict[str, Any]]) -> list[str]:
    """Return the calls that a call made, each with what it was given."""
    lines: list[str] = []
    for place, step in enumerate(steps, 1):
        job = f", job {step['job'][:12]}" if step.get("job") else ""
        how = f" ({step['error_code']})" if step.get("error_code") else ""
        lines.append(f"{place}. {step['tool']}{job}{how}")
        lines += indent_lines(render_value(step["arguments"]))
    return lines


def _render_plugin(told_as: str) -> str:
    """Shorten the hash: it is for telling two apart, and the whole one is in the JSON."""
    name, _, sha256 = told_as.rpartition(" ")
    return f"{name}, {sha256[:12]}" if len(sha256) == 64 else told_as


def _render_files(files: list[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for file in files:
        lines.append(f"{file['change']:<11} {file['path']}  {_render_sizes(file)}")
        lines += [f"  ! {warning}" for warning in file.get("warnings", ())]
    return lines


def _render_sizes(file: dict[str, Any]) -> str:
    before, now = file.get("before_size_bytes", 0), file.get("size_bytes", 0)
    if not file.get("before"):
        return size(now)
    return f"{size(before)} -> {size(now)}" if file.get("after") else f"was {size(before)}"


def _step_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _step_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _step_texts(inner)
