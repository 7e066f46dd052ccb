"""Replacement of a text in text files: read whole, written again with all else as it was."""

import re
from typing import Any

from kbd.errors import ValidationFailed
from kbd.formats import Tabular
from kbd.jobs.records import ReplaceStep
from kbd_jobs.step_calls import StepCalls

__all__ = ["replace_in_text"]

MAX_TEXT_BYTES = 1_000_000
"""Of a text file: it is read by lines and given to the tool that writes it in one call."""

_LINES = 2000
_MARK = "\ufeff"
# The tool that writes adds no mark, so one that was there is written as a character.
_AS_UTF8 = {"ascii": "", "utf-8": "", "utf-8-sig": _MARK}


async def replace_in_text(
    calls: StepCalls, step: ReplaceStep, path: str, copy: str | None
) -> tuple[int, list[str]]:
    """Replace a text in a text file, and return how often it was, with warnings.

    Args:
        calls: Of the job.
        step: What is replaced by what.
        path: The file.
        copy: The copy that is changed in its place, or None.

    Raises:
        ValidationFailed: It is no text, too large, or could not be written again just as it is.
        KbdError: As the tools raise.
    """
    info = await calls.call("get_file_info", path=path)
    if info.get("kind") not in ("text", "table"):
        raise ValidationFailed(f"{path}: texts are not replaced in files of this kind")
    if int(info["size_bytes"]) > MAX_TEXT_BYTES:
        raise ValidationFailed(f"{path} is larger than {MAX_TEXT_BYTES:,} bytes")
    found = await calls.call("get_file_map", path=path)
    mark = _AS_UTF8.get(str(found.get("encoding_detected")))
    if mark is None:
        encoding = found.get("encoding_detected")
        raise ValidationFailed(f"{path} is {encoding}, and what is written is UTF-8")
    _check_signs(calls, step, path, found)
    content = ""
    for start in range(1, max(int(found["line_count"]), 1) + 1, _LINES):
        piece = await calls.call("read_file", path=path, line_start=start, line_count=_LINES)
        content += str(piece["text"])
    end = _line_end(path, mark + content, int(info["size_bytes"]))
    flags = 0 if step.match_case else re.IGNORECASE
    # A function: in a template a backslash of the text would mean something.
    text, hits = re.subn(re.escape(step.search), lambda _: step.replacement, content, flags=flags)
    if not hits:
        return 0, []
    written = (mark + text).replace("\n", end)
    done = await calls.call("write_text_file", path=copy or path, content=written)
    if int(done["bytes"]) != len(written.encode()):
        raise ValidationFailed(f"{copy or path} was not written whole")
    return hits, list(done.get("warnings", ()))


def _check_signs(calls: StepCalls, step: ReplaceStep, path: str, found: dict[str, Any]) -> None:
    """Refuse to change where the fields of a table end."""
    if not isinstance(calls.context.formats.for_name(path), Tabular):
        return
    separators = f'{found.get("delimiter") or ","}{found.get("quote_char") or ""}"'
    signs = sorted(set(separators) & set(step.search + step.replacement))
    if signs:
        raise ValidationFailed(f"{path}: {' and '.join(signs)} would change where its fields end")


def _line_end(path: str, content: str, size_bytes: int) -> str:
    """Return what ends the lines of a file; a reading ends all in LF, so its size alone tells."""
    for end in ("\n", "\r\n"):
        if len(content.replace("\n", end).encode()) == size_bytes:
            return end
    raise ValidationFailed(
        f"{path} cannot be written again just as it is: its lines end in several ways, or are too "
        "long"
    )
