"""Phases of a run: research, plan, implement and summary, each a function of the conversation.

Research looks at the files, reads the request and writes the job down. The plan is one item, which
runs the job. Plan and summary are texts made from texts, without tools.
"""

import math
import shlex
from collections.abc import Sequence
from typing import Any, assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.records import (
    ConvertStep,
    DeduplicateStep,
    OutputStep,
    ReplaceStep,
    ReportStep,
    Step,
)
from kbd.messages import Decline
from kbd_offline.abilities import HOW_TO_ASK, all_abilities, asks_for_abilities
from kbd_offline.answers import NOT_DONE, OPTIONS, encode_said
from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.intents import (
    DeclinedIntent,
    Intent,
    JobIntent,
    ProfileIntent,
    TableIntent,
    decode_intent,
    encode_intent,
)
from kbd_offline.names import split_suffix
from kbd_offline.profiles import write_profile
from kbd_offline.research import profile_words, research_text, shortened
from kbd_offline.summing_rows import kept_rows_text, summing_rows

__all__ = ["implement", "plan", "refusal_of", "research", "summary"]

NOT_A_MODEL = "kbd's offline provider did this by fixed rules; it is not a language model."
_A_MODEL = "connect a model (set OPENAI_API_KEY, then --model openai:NAME)"

_MAX_ITEM_TEXT = 480
"""An item of a plan is one line of at most 500 characters."""

_EXACT_DECIMALS = 6
"""Figures are told with at most so many decimals, where they are not small."""

_SMALL = 0.001
"""Below this a figure is told with four digits that count."""

_MAX_LISTED = 8
"""Sheets or files of an output that are listed one by one."""


def research(conversation: PlannerConversation) -> str:
    """Return research.md; see `PlannerConversation.call` for what it raises."""
    return "\n".join([research_text(conversation), *encode_said(conversation.read_as)])


def plan(conversation: PlannerConversation) -> str:
    """Return plan.md: one item, and the intent in the notes."""
    intent = decode_intent(conversation.block("research") or conversation.request)
    if intent is None:
        reason = "the research was not made by this provider"
        intent = DeclinedIntent(shortened(conversation.request), reason)
    words = " ".join(_words(intent).split())
    item = _item(intent, words)
    return "\n".join(
        [
            "# Execution Plan",
            "",
            "## Task",
            words,
            "",
            "## Items",
            "",
            f"- [ ] 1. {item if len(item) <= _MAX_ITEM_TEXT else item[: _MAX_ITEM_TEXT - 1] + '…'}",
            "",
            "## Notes",
            *_notes(intent),
            *encode_said(conversation.read_as),
            "- For the offline provider, which reads no prose:",
            encode_intent(intent),
        ]
    )


def _words(intent: Intent) -> str:
    match intent:
        case JobIntent():
            return intent.words
        case ProfileIntent():
            return profile_words(intent)
        case DeclinedIntent():
            return intent.understood
        case _:
            assert_never(intent)


def _item(intent: Intent, words: str) -> str:
    match intent:
        case JobIntent():
            files = [file for step in intent.job.steps for file in _files_of(step)]
            name = next((file for file in files if file and "{" not in file), "Answer")
            return f"Final: {name} — {words}"
        case ProfileIntent():
            return f"Final: {intent.target or 'Answer'} — {words}"
        case DeclinedIntent():
            return "Final: Answer — Say what was understood and what can be done"
        case _:
            assert_never(intent)


def _files_of(step: Step) -> Sequence[str | None]:
    """Return the files that a step writes, as far as it names them."""
    match step:
        case ReplaceStep():
            return (step.file, *step.files)
        case ReportStep():
            return ()
        case _:
            return (step.file,) if isinstance(step, OutputStep) else ()


def _notes(intent: Intent) -> list[str]:
    match intent:
        case JobIntent():
            sources = ", ".join(dict.fromkeys(one.file for one in intent.job.inputs))
            return [f"- Source: {sources}", *(f"- {note}" for note in intent.notes)]
        case ProfileIntent():
            return ["- The files themselves are not changed."]
        case DeclinedIntent():
            return [f"- Not done: {' '.join(intent.reason.split())}"]
        case _:
            assert_never(intent)


def refusal_of(conversation: PlannerConversation) -> Decline | None:
    """Return why the plan is that nothing is done; None where something is, or is answered."""
    intent = decode_intent(conversation.block("plan"))
    if not isinstance(intent, DeclinedIntent) or asks_for_abilities(intent.understood):
        return None
    return Decline(intent.reason, intent.understood, intent.options or (HOW_TO_ASK,))


def implement(conversation: PlannerConversation) -> str:
    """Do the item and return its final text; see `PlannerConversation.call` for what it raises.

    Raises:
        ValidationFailed: The plan is not of this provider, or a tool refused what was to be done:
            the item fails with that reason.
    """
    intent = decode_intent(conversation.block("plan"))
    if intent is None or conversation.item_number != 1:
        raise ValidationFailed("the offline provider can only carry out plans that it made itself")
    try:
        match intent:
            case JobIntent():
                return _run(conversation, intent)
            case ProfileIntent():
                return write_profile(conversation, intent)
            case DeclinedIntent():
                return decline_text(intent, conversation.paths)
            case _:
                assert_never(intent)
    except CallFailedError as failed:
        raise ValidationFailed(f"a tool refused: {failed}") from None


def _run(conversation: PlannerConversation, intent: JobIntent) -> str:
    """Run a job and return what came of it."""
    try:
        done = conversation.call("run_job", job=msgspec.to_builtins(intent.job))
    except CallFailedError as failed:
        if _NOWHERE in str(failed):
            return f"{str(failed).partition(': ')[2]}. Nothing was changed."
        raise
    lines = [_done_text(done)]
    for step in intent.job.steps:
        if isinstance(step, ConvertStep):
            lines += _kept_totals(conversation, intent, step, done)
        elif isinstance(step, DeduplicateStep):
            lines += _removed(done)
    return " ".join(line for line in lines if line)


_NOWHERE = " is in none of "
"""What `run_job` says where a text that is replaced is nowhere."""


def _removed(done: dict[str, Any]) -> list[str]:
    """Return how many rows a job took out, where it read one table and wrote one."""
    if len(done["inputs"]) != 1 or len(done["outputs"]) != 1:
        return []
    before = int(done["inputs"][0]["row_count"])
    sheets = done["outputs"][0].get("sheets") or [done["outputs"][0]]
    count = before - int(sheets[0].get("row_count", before))
    if not count:
        return ["No row was there more than once."]
    rows = "1 row was" if count == 1 else f"{count:,} rows were"
    return [f"{rows} removed from {_rows(before)}."]


def _kept_totals(
    conversation: PlannerConversation, intent: JobIntent, step: ConvertStep, done: dict[str, Any]
) -> list[str]:
    """Make rows that sum others up formulas in a workbook, and tell of them in any file."""
    source = next(one for one in intent.job.inputs if one.name == step.table)
    table = TableIntent(source.file, source.sheet or "")
    if split_suffix(step.file)[1] != _BOOK:
        return [kept_rows_text(conversation, table)]
    arguments = {"path": step.file, "row_start": 1, "row_count": 1, "read_as": {"totals": "keep"}}
    names = conversation.call("table_read_rows", **arguments)["columns"]
    kept = summing_rows(conversation, table, names)
    if kept.formulas:
        written = next(one for one in done["outputs"] if one["target_path"] == step.file)
        sheet = written["sheets"][0]["sheet"] or "Sheet1"
        cells = [{"cell": cell, "value": text, "type": "formula"} for cell, text in kept.formulas]
        operation = {"op": "set_cells", "sheet": sheet, "cells": cells}
        conversation.call("xlsx_operations", path=step.file, operations=[operation])
    return list(kept.notes)


_BOOK = ".xlsx"


def decline_text(intent: DeclinedIntent, paths: tuple[str, ...]) -> str:
    """Return what was asked, why it is not done, and commands to paste, in three lines.

    Args:
        intent: It.
        paths: The files of the workbench.
    """
    if asks_for_abilities(intent.understood):
        return f"{all_abilities()}\nFor anything else {_A_MODEL}."
    first = f"{NOT_DONE} I read the request as: {intent.understood}"
    files = " ".join(map(shlex.quote, paths[:3])) or "FILE"
    if intent.is_question:
        lines = [first, f"Which is meant? {intent.reason}"]
        told = [
            f"{n}: kbd run {shlex.quote(one)} {files}" for n, one in enumerate(intent.options, 1)
        ]
        return "\n".join([*lines, f"{OPTIONS}{' · '.join(told)}"] if told else lines)
    near = [f"kbd run {shlex.quote(one)} {files}" for one in intent.options]
    third = f"Near it: {' · '.join(near)} · or " if near else 'What can be done: ask "help", or '
    return "\n".join([first, f"Why not: {intent.reason}", third + _A_MODEL])


def _done_text(done: dict[str, Any]) -> str:
    """Return what came of a job: answers, then files with their rows."""
    lines = [line for answer in done["answers"] for line in _answer_lines(answer)]
    lines += [line for output in done["outputs"] for line in _output_lines(output)]
    return "\n".join(lines) or "Nothing was written."


_MAX_PLAIN = 4


def _answer_lines(answer: dict[str, Any]) -> list[str]:
    lines = [str(answer["text"])] if answer.get("text") else []
    columns, rows = answer["columns"], answer["rows"]
    for row in rows:
        if len(columns) == 1:
            only = _value(row[0])
            lines.append(f"{columns[0]} {only}" if len(rows) == 1 else f"- {only}")
        elif len(rows) == 1 and all(isinstance(value, int | float) for value in row):
            lines.append(
                ", ".join(
                    f"{name} {_value(value)}" for name, value in zip(columns, row, strict=True)
                )
            )
        else:
            rest = zip(columns[1:], row[1:], strict=True)
            # Of a row of many fields it must be seen where each begins.
            mark = ":" if len(columns) > _MAX_PLAIN else ""
            told = ", ".join(f"{name}{mark} {_value(value)}" for name, value in rest)
            lines.append(f"- {_value(row[0])}: {told}")
    more = int(answer["row_count"]) - len(rows)
    if more > 0:
        lines.append(f"… and {more} more; ask for a workbook to get all of them.")
    return lines or ["No row is left."]


def _output_lines(output: dict[str, Any]) -> list[str]:
    path = output["target_path"]
    if "replacements" in output:
        count = int(output["replacements"])
        return [f"{path}: replaced {'once' if count == 1 else f'{count:,} times'}."]
    sheets = output.get("sheets", ())
    if not sheets:
        rows = output.get("row_count")
        return [f"{path} has {_rows(int(rows))}." if rows is not None else f"{path} was written."]
    if len(sheets) == 1:
        return [f"{path} has {_rows(int(sheets[0]['row_count']))}{_totals_text(sheets[0])}."]
    lines = [
        f'- Sheet "{one["sheet"]}" in {path} has {_rows(int(one["row_count"]))}{_totals_text(one)}'
        for one in sheets
    ]
    if (more := len(lines) - _MAX_LISTED) > 0:
        lines = [*lines[: _MAX_LISTED - 1], f"- and {more} more sheets", lines[-1]]
    return lines


def _totals_text(sheet: dict[str, Any]) -> str:
    """Return what the totals of a sheet come to."""
    totals = sheet.get("totals") or {}
    told = ", ".join(f"{name} {_value(value)}" for name, value in totals.items())
    return f"; over all of them: {told}" if told else ""


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def summary(conversation: PlannerConversation) -> str:
    """Return the message to the user: how it was read, what came of it, what failed."""
    items = [dict(item) for item in conversation.json_block("results").get("items", [])]
    changes = [dict(change) for change in conversation.json_block("changes").get("changes", [])]
    intent = decode_intent(conversation.block("plan"))
    failed = [item for item in items if item.get("state") == "failed"]
    done = [str(item.get("text", "")) for item in items if item not in failed]
    if isinstance(intent, DeclinedIntent):
        return "\n".join(done) or NOT_DONE
    lines = [f"I read this as: {' '.join(_words(intent).split())}."] if intent is not None else []
    lines += done
    told = "\n".join(done)
    lines += [
        _change(change)
        for change in changes
        if change.get("change_type") != "added" or str(change.get("path")) not in told
    ]
    notes = intent.notes if isinstance(intent, JobIntent) else ()
    if notes and lines and lines[-1].rpartition("\n")[2].startswith("- "):
        lines.append("")
    lines += [f"- {note}." for note in notes]
    lines += [f"- Failed: {item.get('label')} ({item.get('reason')})" for item in failed]
    if failed and not changes:
        lines.append("Nothing was changed.")
    return "\n".join([*lines, NOT_A_MODEL])


def _change(change: dict[str, Any]) -> str:
    kind = str(change.get("change_type", "modified"))
    return f"{kind.capitalize()}: {change.get('path')}."


def _decimals(value: float) -> int:
    """Return with how many decimals a figure is told: exactly where it has few, two at least."""
    # Of a double's digits 15 are sure.
    shown = f"{round(value, _EXACT_DECIMALS) if abs(value) >= _SMALL else value:.15g}"
    places = len(shown.partition(".")[2])
    if "e" not in shown and places <= _EXACT_DECIMALS:
        return max(2, places)
    # A rate of 0.0683 told as 0.07 would be another one: four digits that count.
    return 2 if abs(value) >= 1 or not value else 3 - math.floor(math.log10(abs(value)))


def _value(value: Any) -> str:
    if value is None:
        return "(empty)"
    if isinstance(value, float):
        return f"{value:,.{_decimals(value)}f}"
    # To Python a bool is an int, and would be written as 1.
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
