"""Walk through a run: key bindings, frames, and the panels beside a step.

Nothing here knows of a terminal: keys come in by name ("down", "pgdn", "esc", or a character), and
a frame goes out as rows of text, each with a style. `kbd.cli.screen` draws them.

A panel is lines of text: plan, files, conversation, result, changes, the state of the workbench.
One that a step has none of says so in one line.
"""

import difflib
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from kbd.cli.exits import RequestRefused
from kbd.cli.run_steps import StepReader
from kbd.cli.step_text import (
    contains_text,
    indent_lines,
    render_facts,
    render_plan,
    render_step,
    render_value,
)
from kbd.cli.terminal import (
    cell_width,
    counted,
    duration,
    format_time,
    render_table,
    size,
    truncate,
    wrap,
)

__all__ = ["KEYS", "PANELS", "Panel", "ScreenRow", "Walk", "render_files", "render_state"]


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
            text_lines = run[name].splitlines()
            most = len(text_lines) if name == "plan" else MAX_TEXT_LINES
            lines += ["", f"{name}:", *indent_lines(text_lines[:most])]
            if len(text_lines) > most:
                more = len(text_lines) - most
                lines.append(f"  … {more} more lines: --out DIR or --json has them")
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


def render_overview(reader: StepReader, index: int) -> list[str]:
    """Return all that the step says."""
    return render_step(reader.step(index))


def render_plan_panel(reader: StepReader, index: int) -> list[str]:
    """Return the plan as it stood after the step."""
    for place in range(index, 0, -1):
        if items := reader.step(place).get("items"):
            return render_plan(items)
    return ["There was no plan yet."]


def render_files_panel(reader: StepReader, index: int) -> list[str]:
    """Return the files as they stood after the step; what it changed is marked."""
    step = reader.step(index)
    touched = frozenset(file["path"] for file in step.get("files", ()))
    lines = render_files(reader.state(step["seq"])["files"], touched)
    return [*lines, "", "* changed by this step"] if touched else lines


def render_conversation(reader: StepReader, index: int) -> list[str]:
    """Return the conversation that the model saw, up to the step.

    That is the messages that opened it, and the replies and results since. kbd shortens old results
    if all of it would not fit the model's window; that is not repeated here.
    """
    chain = _conversation_chain(reader, index)
    if not chain:
        return ["Nothing was sent to the model for this step."]
    lines = _render_opening(reader, chain[0]["model"]["opening"])
    for step in chain:
        model = step.get("model")
        if model is None:
            call = step["call"]
            lines += ["", f"── {call['tool']} returned", *render_value(call.get("shown", ""))]
        elif not model.get("is_open"):
            last = " (its answer)" if step is chain[-1] else ""
            lines += ["", f"── model, turn {model['turn']}{last}", *_render_reply(model)]
    return lines


def render_result(reader: StepReader, index: int) -> list[str]:
    """Return the whole result of the step's call."""
    call = reader.step(index).get("call")
    if call is None:
        return ["This step is no tool call."]
    if call.get("result"):
        return render_value(str(call["result"]))
    if call.get("blob"):
        return render_value(reader.blob(call["blob"]))
    return render_value(call.get("shown", "")) or ["It returned nothing."]


def render_receipt(reader: StepReader, index: int) -> list[str]:
    """Return what the model saw of the result of the step's call."""
    call = reader.step(index).get("call")
    if call is None:
        return ["This step is no tool call."]
    return render_value(call.get("shown", "")) or ["It saw nothing."]


def render_changes(reader: StepReader, index: int) -> list[str]:
    """Return what the step changed in the draft; of texts the lines that differ."""
    lines: list[str] = []
    for file in reader.step(index).get("files", ()):
        lines.append(f"{file['change']} {file['path']}")
        for what, blob, length in (
            ("before", file.get("before"), file.get("before_size_bytes", 0)),
            ("after", file.get("after"), file.get("size_bytes", 0)),
        ):
            lines.append(f"  {what:<7} {f'{size(length)}, sha256 {blob}' if blob else 'no file'}")
        lines += [f"  ! {warning}" for warning in file.get("warnings", ())]
        lines += [*indent_lines(_diff_texts(reader, file)), ""]
    return lines or ["This step changed no file."]


def render_keys(reader: StepReader, index: int) -> list[str]:
    """Return what each key does."""
    del reader, index
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


def _conversation_chain(reader: StepReader, index: int) -> list[Step]:
    """Return the turns and calls of the conversation that a step belongs to, up to itself."""
    chain: list[Step] = []
    opening = ""
    for place in range(index, 0, -1):
        step = reader.step(place)
        model = step.get("model")
        if model is not None:
            # Turns of one conversation name the same opening messages.
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


def _render_opening(reader: StepReader, blob: str) -> list[str]:
    try:
        messages = json.loads(reader.blob(blob))
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


def _diff_texts(reader: StepReader, file: dict[str, Any]) -> list[str]:
    """Compare two versions of a text; nothing for what is no text, or long."""
    sizes = (file.get("before_size_bytes", 0), file.get("size_bytes", 0))
    if max(sizes) > MAX_DIFF_BYTES:
        return []
    texts: list[list[str]] = []
    for blob in (file.get("before"), file.get("after")):
        text = reader.blob(blob) if blob else ""
        # What is no UTF-8 was read with replacement characters; a NUL is in no text.
        if "\0" in text or "\ufffd" in text:
            return []
        texts.append(text.splitlines())
    before, after = texts
    # The first two lines would name the files, which are named above.
    return list(difflib.unified_diff(before, after, n=2, lineterm=""))[2:]


LIST_ROWS = 12
"""How many steps are listed at most, a third of the screen if that is less."""

_END = 1_000_000_000
"""Beyond the end of any text: a frame knows where that is."""

_DEPTHS = {"asked": 0, "run": 0, "phase": 0, "other": 0}

_NEXT, _BACK = ("down", "right", "j"), ("up", "left", "k")


class ScreenRow(NamedTuple):
    """Row of the screen.

    Attributes:
        text: Clean, and no wider than the screen.
        style: "", "bar" for a rule or a heading, "chosen" for the current step, "found" for a line
            that matches the search.
    """

    text: str
    style: str = ""


class Walk:
    """Walk through the steps of a run: its state, key bindings and frames.

    Args:
        reader: The steps.
        start: The first one shown, from 1.

    Attributes:
        is_over: Whether the person has had enough.
    """

    def __init__(self, reader: StepReader, start: int = 1) -> None:
        self.is_over = False
        self._reader, self._at = reader, start
        self._picture, self._top = "", 0
        self._page, self._lines = 1, 0
        self._wanted, self._message = "", ""
        self._is_sought = False
        self._prompt: tuple[str, str] | None = None
        self._drawn: tuple[tuple[int, str, int], list[str]] | None = None

    def press(self, key: str) -> None:
        """Handle a key.

        Raises:
            Stop: The connection broke.
        """
        self._message = ""
        try:
            if self._prompt is not None:
                self._type(key)
            else:
                self._command(key)
        except RequestRefused as refused:
            self._message = refused.message

    def frame(self, width: int, height: int) -> list[ScreenRow]:
        """Return the rows of the screen, as many as it has.

        Raises:
            Stop: The connection broke.
        """
        # A heading, a rule and a footer take a row each.
        body = max(height - 3, 2)
        listed = max(1, min(LIST_ROWS, body // 3))
        self._page = max(body - listed, 1)
        rows = [ScreenRow(self._heading(width), "bar"), *self._list(width, listed)]
        lines = self._text(width)
        self._lines = len(lines)
        # Only now is known on which line the text stands.
        if self._is_sought:
            self._top, self._is_sought = self._sought(lines), False
        self._top = max(0, min(self._top, len(lines) - self._page))
        rows.append(ScreenRow(self._rule(width), "bar"))
        shown = lines[self._top : self._top + self._page]
        rows += [ScreenRow(one, self._style(one)) for one in shown]
        rows += [ScreenRow("")] * (self._page - len(shown))
        rows.append(ScreenRow(self._footer(width), "" if self._prompt or self._message else "dim"))
        return rows[:height]

    def _command(self, key: str) -> None:  # noqa: C901 - a case a key
        match key:
            case "q":
                self.is_over = True
            case "esc":
                self._wanted, self._picture, self._top = "", "", 0
            case key if key in _NEXT:
                self._go(self._at + 1)
            case key if key in _BACK:
                self._go(self._at - 1)
            case " ":
                self._read_on()
            case "b":
                self._read_back()
            case "pgdn":
                self._top += self._page
            case "pgup":
                self._top = max(0, self._top - self._page)
            case "<":
                self._top = 0
            case ">":
                self._top = _END
            case "g" | "home":
                self._go(1)
            case "G" | "end":
                self._go(self._reader.total)
            case "n":
                self._seek(range(self._at + 1, self._reader.total + 1))
            case "N":
                self._seek(range(self._at - 1, 0, -1))
            case "/":
                self._prompt = ("/", "")
            case "w":
                self._prompt = ("Write all as it stood here to a new folder: ", "")
            case "R":
                self._reader.refresh()
                self._at = min(self._at, self._reader.total)
                self._drawn = None
                self._message = f"{self._reader.total} steps, run {self._reader.run['status']}"
            # The table has the step itself under "", which is no key.
            case key if key and key in PANELS:
                self._picture, self._top = ("" if key == self._picture else key), 0
            case _:
                self._message = "? shows the keys"

    def _go(self, index: int) -> None:
        # A run that is under way may have more by now.
        if index > self._reader.total:
            self._reader.refresh()
            self._drawn = None
        if not 1 <= index <= self._reader.total:
            self._message = "This is the first step." if index < 1 else "This is the last step."
            return
        # Read before it is gone to: after an error the walk is where it was.
        self._reader.step(index)
        self._at, self._top = index, 0

    def _read_on(self) -> None:
        if self._top + self._page < self._lines:
            self._top += self._page
        else:
            self._go(self._at + 1)

    def _read_back(self) -> None:
        if self._top > 0:
            self._top = max(0, self._top - self._page)
        elif self._at > 1:
            self._go(self._at - 1)
            self._top = _END
        else:
            self._go(0)  # which says that this is the first

    def _seek(self, places: range) -> None:
        """Go to the next step of the same kind, or, while something is searched, that has it."""
        kind = self._reader.step(self._at)["kind"]
        for place in places:
            step = self._reader.step(place)
            if contains_text(step, self._wanted) if self._wanted else step["kind"] == kind:
                self._go(place)
                self._is_sought = bool(self._wanted)
                return
        what = f"with {self._wanted!r}" if self._wanted else f"of kind {kind}"
        self._message = f"There is no other step {what} that way."

    def _type(self, key: str) -> None:
        """Go on with a line that is being typed."""
        asked, typed = self._prompt or ("", "")
        match key:
            case "esc":
                self._prompt = None
            case "enter":
                self._prompt = None
                self._answer(asked, typed)
            case "backspace":
                self._prompt = (asked, typed[:-1]) if typed else None
            case "kill":
                self._prompt = (asked, "")
            case key if len(key) == 1 and key.isprintable():
                self._prompt = (asked, typed + key)
            case _:
                pass

    def _answer(self, asked: str, typed: str) -> None:
        if asked == "/":
            self._wanted = typed.casefold()
            if self._wanted:
                total, at = self._reader.total, self._at
                self._is_sought = contains_text(self._reader.step(at), self._wanted)
                if not self._is_sought:
                    self._seek(range(at + 1, total + 1))
            return
        if typed.strip():
            folder = os.path.abspath(os.path.expanduser(typed.strip()))
            found = self._reader.moment(self._reader.step(self._at)["seq"], folder)
            count = sum(file["hash"] is not None for file in found["files"])
            count_text = counted(count, "file")
            self._message = f"wrote {count_text}, as runs saw them, to {found['destination']}"

    def _heading(self, width: int) -> str:
        run = self._reader.run
        request = " ".join(self._reader.request.split())
        return _pad_line(f" {run['run_id']}  {run['status']}  {request}", width)

    def _list(self, width: int, rows: int) -> Iterator[ScreenRow]:
        total = self._reader.total
        # The current step stands in the middle, but for both ends of the list.
        first = max(1, min(self._at - rows // 2, total - rows + 1))
        for place in range(first, first + rows):
            if place > total:
                yield ScreenRow("")
                continue
            step, is_here = self._reader.step(place), place == self._at
            yield ScreenRow(_list_row(step, width, is_here=is_here), "chosen" if is_here else "")

    def _rule(self, width: int) -> str:
        step = self._reader.step(self._at)
        name, _ = PANELS[self._picture]
        more = ""
        if self._lines > self._page:
            last = min(self._top + self._page, self._lines)
            more = f"  lines {self._top + 1}-{last} of {self._lines}"
        what = f"  [{name}]" if name else ""
        text = f" step {self._at} of {self._reader.total}{what}{more}  {render_facts(step)}"
        return _pad_line(text, width)

    def _text(self, width: int) -> list[str]:
        """Return the lines of the picture, wrapped; kept, for scrolling draws them again."""
        key = (self._at, self._picture, width)
        if self._drawn is None or self._drawn[0] != key:
            _, draw = PANELS[self._picture]
            try:
                drawn = draw(self._reader, self._at)
            except RequestRefused as refused:
                drawn = [refused.message]
            self._drawn = (key, [part for one in drawn for part in wrap(one, max(width, 1))])
        return self._drawn[1]

    def _sought(self, lines: list[str]) -> int:
        """Return where to begin so that the first line that has what is searched is seen."""
        for place, one in enumerate(lines):
            if self._wanted in one.casefold():
                return 0 if place < self._page else place
        return 0

    def _style(self, text: str) -> str:
        return "found" if self._wanted and self._wanted in text.casefold() else ""

    def _footer(self, width: int) -> str:
        if self._prompt is not None:
            asked, typed = self._prompt
            # What is typed last must be seen.
            while typed and cell_width(asked + typed) >= width:
                typed = typed[1:]
            return truncate(f"{asked}{typed}", width)
        if self._message:
            return truncate(self._message, width)
        if self._wanted:
            return truncate(f"searching {self._wanted!r}: n next, N previous, Esc ends", width)
        keys = (
            "j/k step  space read  p plan  f files  m model  r result  d changes  / find  ? keys  q"
        )
        return truncate(keys if width >= len(keys) else "j/k step  ? keys  q quit", width)


def _pad_line(text: str, width: int) -> str:
    """Return a line that takes all columns."""
    shown = truncate(text, width)
    return shown + " " * (width - cell_width(shown))


def _list_row(step: dict[str, Any], width: int, *, is_here: bool) -> str:
    """Return a step as a row of the list; what it is part of sets it in."""
    depth = _DEPTHS.get(step["kind"], 2 if step.get("item") else 1)
    time = f"{step['ts'][11:19]} " if width >= 60 else ""
    kind = f"{step['kind']:<8} " if width >= 48 else ""
    took = duration(step["duration_ms"] / 1000) if step.get("duration_ms") else ""
    tail = f" {took:>9}" if width >= 72 else ""
    head = f"{'>' if is_here else ' '}{step['index']:>4} {time}{kind}{'  ' * depth}"
    title = truncate(f"{head}{step['title']}", width - len(tail))
    return title + " " * (width - len(tail) - cell_width(title)) + tail
