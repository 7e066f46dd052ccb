"""Panels beside a step: plan, files, conversation, result, changes, the state of the workbench.

Each panel is lines of text. A panel that a step has none of says so in one line.
"""

import difflib
import json
from collections.abc import Callable
from typing import Any

from kbd.cli.exits import RequestRefused
from kbd.cli.record_text import indent_lines, render_value
from kbd.cli.run_steps import StepReader
from kbd.cli.step_text import render_plan, render_step
from kbd.cli.terminal import format_time, render_table, size

__all__ = ["KEYS", "PANELS", "Panel", "render_files", "render_state"]

MAX_TEXT_LINES = 12
"""Lines of a text that are told beside state and files; the plan is the state, and told whole."""


def render_state(found: dict[str, Any]) -> list[str]:
    """Render the answer of `StateAt`, in lines."""
    which = f"workbench {found['name']} ({found['workbench_id']})"
    lines = [
        f"{which} after event {found['seq']}, {format_time(found['ts'])}",
        f"state {found['state_hash']}",
    ]
    run = found.get("run")
    if run is not None:
        item = f", item {run['item']}, attempt {run['attempt']}" if run["item"] else ""
        phase = f", phase {run['phase']}" if run["phase"] else ""
        usage = run["usage"]
        used = f"{usage.get('input_tokens', 0):,} tokens in, {usage.get('output_tokens', 0):,} out"
        lines.append(f"run {run['run_id']}: {run['status']}{phase}{item}; {used}")
    lines += ["", *render_files(found["files"])]
    for name in ("research", "plan", "summary"):
        if run is not None and run[name]:
            told = run[name].splitlines()
            most = len(told) if name == "plan" else MAX_TEXT_LINES
            lines += ["", f"{name}:", *indent_lines(told[:most])]
            if len(told) > most:
                lines.append(f"  … {len(told) - most} more lines: --out DIR or --json has them")
    if found["destination"]:
        lines += ["", f"written to {found['destination']}"]
    return lines


def render_files(files: list[dict[str, Any]], touched: frozenset[str] = frozenset()) -> list[str]:
    """Return files as a table.

    Args:
        files: As `StateAt` tells them.
        touched: The names of those that get a mark.
    """
    if not files:
        return ["no files"]
    rows = [
        (
            f"{'* ' if file['path'] in touched else ''}{file['state']}",
            file["path"],
            size(file["size_bytes"]) if file["hash"] else "",
            (file["hash"] or "")[:12],
        )
        for file in files
    ]
    return render_table(("state", "file", "size", "sha256"), rows).splitlines()


Step = dict[str, Any]

Panel = Callable[[StepReader, int], list[str]]
"""Draws what there is of a step, named by its place."""

MAX_DIFF_BYTES = 256 * 1024
"""Up to which size two versions of a text are compared line by line."""


def render_overview(book: StepReader, index: int) -> list[str]:
    """Return all that the step says."""
    return render_step(book.step(index))


def render_plan_panel(book: StepReader, index: int) -> list[str]:
    """Return the plan as it stood after the step."""
    for place in range(index, 0, -1):
        if items := book.step(place).get("items"):
            return render_plan(items)
    return ["There was no plan yet."]


def render_files_panel(book: StepReader, index: int) -> list[str]:
    """Return the files as they stood after the step; what it changed is marked."""
    step = book.step(index)
    touched = frozenset(file["path"] for file in step.get("files", ()))
    lines = render_files(book.state(step["seq"])["files"], touched)
    return [*lines, "", "* changed by this step"] if touched else lines


def render_conversation(book: StepReader, index: int) -> list[str]:
    """Return the conversation that the model saw, up to the step.

    That is the messages that opened it, and the replies and results since. kbd shortens old results
    if all of it would not fit the model's window; that is not repeated here.
    """
    chain = _conversation_chain(book, index)
    if not chain:
        return ["Nothing was sent to the model for this step."]
    lines = _render_opening(book, chain[0]["model"]["opening"])
    for step in chain:
        model = step.get("model")
        if model is None:
            call = step["call"]
            lines += ["", f"── {call['tool']} returned", *render_value(call.get("shown", ""))]
        elif not model.get("is_open"):
            last = " (its answer)" if step is chain[-1] else ""
            lines += ["", f"── model, turn {model['turn']}{last}", *_render_reply(model)]
    return lines


def render_result(book: StepReader, index: int) -> list[str]:
    """Return the whole result of the step's call."""
    call = book.step(index).get("call")
    if call is None:
        return ["This step is no tool call."]
    if call.get("result"):
        return render_value(str(call["result"]))
    if call.get("blob"):
        return render_value(book.blob(call["blob"]))
    return render_value(call.get("shown", "")) or ["It returned nothing."]


def render_receipt(book: StepReader, index: int) -> list[str]:
    """Return what the model saw of the result of the step's call."""
    call = book.step(index).get("call")
    if call is None:
        return ["This step is no tool call."]
    return render_value(call.get("shown", "")) or ["It saw nothing."]


def render_changes(book: StepReader, index: int) -> list[str]:
    """Return what the step changed in the draft; of texts the lines that differ."""
    lines: list[str] = []
    for file in book.step(index).get("files", ()):
        lines.append(f"{file['change']} {file['path']}")
        for what, blob, length in (
            ("before", file.get("before"), file.get("before_size_bytes", 0)),
            ("after", file.get("after"), file.get("size_bytes", 0)),
        ):
            lines.append(f"  {what:<7} {f'{size(length)}, sha256 {blob}' if blob else 'no file'}")
        lines += [f"  ! {warning}" for warning in file.get("warnings", ())]
        lines += [*indent_lines(_diff_texts(book, file)), ""]
    return lines or ["This step changed no file."]


def render_keys(book: StepReader, index: int) -> list[str]:
    """Return what each key does."""
    del book, index
    return [*KEYS.splitlines()]


KEYS = """\
down right j     next step
up left k        previous step
space b          read on, read back: through the text, then from step to step
PgDn PgUp < >    scroll the text; to its beginning, its end
g G Home End     first step, last step
n N              next, previous step of the same kind; after a search: that matches
/                search in all steps; Esc ends it

p   the plan as it stood
f   the files as they stood
m   what the model saw
r   the whole result of the call
t   the receipt that the model saw of it
d   what the call changed
    (the same key again, or Esc: back to the step)

w   write the workbench as it stood to a new folder
R   ask what was recorded since, of a run that is under way
q   quit"""

PANELS: dict[str, tuple[str, Panel]] = {
    "": ("", render_overview),
    "p": ("the plan as it stood", render_plan_panel),
    "f": ("the files as they stood", render_files_panel),
    "m": ("what the model saw", render_conversation),
    "r": ("the whole result", render_result),
    "t": ("what the model saw of the result", render_receipt),
    "d": ("what it changed", render_changes),
    "?": ("keys", render_keys),
}
"""By the key that shows it: what it is called, and what draws it."""


def _conversation_chain(book: StepReader, index: int) -> list[Step]:
    """Return the turns and calls of the conversation that a step belongs to, up to itself."""
    chain: list[Step] = []
    opening = ""
    for place in range(index, 0, -1):
        step = book.step(place)
        model = step.get("model")
        if model is not None:
            if opening and model["opening"] != opening:
                break
            opening = model["opening"]
        elif step["kind"] not in ("tool", "refused"):
            if step["kind"] in ("phase", "item", "asked"):
                break
            continue
        chain.append(step)
    chain.reverse()
    return chain if chain and "model" in chain[0] else []


def _render_opening(book: StepReader, blob: str) -> list[str]:
    try:
        messages = json.loads(book.blob(blob))
        lines: list[str] = []
        for message in messages:
            lines += ["", f"── {message['role']}", *str(message.get("text", "")).splitlines()]
    except (RequestRefused, ValueError, KeyError, TypeError):
        return [f"The messages that opened it cannot be read: blob {blob}."]
    return lines[1:]


def _render_reply(model: dict[str, Any]) -> list[str]:
    lines = str(model.get("text", "")).splitlines()
    for call in model.get("calls", ()):
        given = render_value(call.get("arguments", "")) or [f"(blob {call.get('blob')})"]
        lines += [f"calls {call['tool']}", *indent_lines(given)]
    return lines


def _diff_texts(book: StepReader, file: dict[str, Any]) -> list[str]:
    """Compare two versions of a text; nothing for what is no text, or long."""
    sizes = (file.get("before_size_bytes", 0), file.get("size_bytes", 0))
    if max(sizes) > MAX_DIFF_BYTES:
        return []
    texts: list[list[str]] = []
    for blob in (file.get("before"), file.get("after")):
        text = book.blob(blob) if blob else ""
        # What is no UTF-8 was read with replacement characters; a NUL is in no text.
        if "\0" in text or "\ufffd" in text:
            return []
        texts.append(text.splitlines())
    before, after = texts
    return list(difflib.unified_diff(before, after, n=2, lineterm=""))[2:]
