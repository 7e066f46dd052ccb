"""Phases of a run: research, plan, implement and summary, each a function of the conversation.

Research looks at the files, reads the request and has the job checked. The plan is one item, which
runs the job. Plan and summary are texts made from texts, without tools.
"""

import math
import re
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.job_words import is_look
from kbd.jobs.records import (
    ConvertStep,
    DeduplicateStep,
    Job,
    OutputStep,
    ReplaceStep,
    ReportStep,
    RowCountCheck,
)
from kbd.messages import Decline
from kbd.types import ReadAs
from kbd_offline.abilities import ABILITIES, HOW_TO_ASK, asks_for_abilities
from kbd_offline.answers import NOT_DONE, OPTIONS, encode_said
from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.inspection import inspect
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
from kbd_offline.profiles import asks_for_profile, parse_look, parse_profiles, write_profile
from kbd_offline.request import Declined, Question, Understood, read_request
from kbd_offline.request_files import ALL_TABLES, MAX_REQUEST_CHARACTERS, named_files
from kbd_offline.scan import UnclearError
from kbd_offline.substitution import replaced
from kbd_offline.summing_rows import kept_rows_text, summing_rows

__all__ = ["implement", "plan", "refusal_of", "research", "summary"]

_NOT_A_MODEL = "kbd's offline provider did this by fixed rules; it is not a language model."
_A_MODEL = "connect a model (set OPENAI_API_KEY, then --model openai:NAME)"

_MAX_INTENT_CHARACTERS = 18_000
"""Well within what the notes of a plan, which carry the intent on, hold."""

_MAX_ITEM_TEXT = 480
"""An item of a plan is one line of at most 500 characters."""

_MAX_QUOTED = 200

_EXACT_DECIMALS = 6
"""Figures are told with at most so many decimals, where they are not small."""

_SMALL = 0.001
"""Below this a figure is told with four digits that count."""

_MAX_LISTED = 8
"""Sheets or files of an output that are listed one by one."""


class _Description(NamedTuple):
    """An intent in words: as a whole, by its result, and lines for research and for the plan."""

    words: str
    result: str
    researched: tuple[str, ...]
    planned: tuple[str, ...]


def _described(intent: Intent) -> _Description:
    match intent:
        case JobIntent(job, words, notes):
            by_rules = "Read by the rules of the offline provider, which is not a model."
            sources = ", ".join(dict.fromkeys(one.file for one in job.inputs))
            return _Description(
                words, _result(job), (words, by_rules), (f"Source: {sources}", *notes)
            )
        case ProfileIntent(paths, target):
            shown = ", ".join(paths)
            words = f"A report on {shown}, in {target}" if target else f"What {shown} holds"
            kept = "The files themselves are not changed."
            return _Description(words, target, (words,), (kept,))
        case DeclinedIntent(understood, reason):
            told = (f"Understood: {understood}", f"Not done: {reason}")
            return _Description(understood, "", told, (f"Not done: {_on_one_line(reason)}",))
        case _:
            assert_never(intent)


def _result(job: Job) -> str:
    """Return the first file that a job writes, as far as its steps name any."""
    files: list[str | None] = []
    for step in job.steps:
        if isinstance(step, OutputStep) and not isinstance(step, ReportStep):
            files += [step.file, *(step.files if isinstance(step, ReplaceStep) else ())]
    return next((file for file in files if file and "{" not in file), "")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _declined(
    request: str, reason: str, options: tuple[str, ...] = (), *, is_question: bool = False
) -> DeclinedIntent:
    line = _on_one_line(request)
    line = line if len(line) <= _MAX_QUOTED else line[: _MAX_QUOTED - 1] + "…"
    return DeclinedIntent(line, reason, options, is_question)


def research(conversation: PlannerConversation) -> str:
    """Return research.md; see `PlannerConversation.call` for what it raises."""
    intent, files = _intent(conversation, conversation.request)
    if len(encode_intent(intent)) > _MAX_INTENT_CHARACTERS:
        reason = "the job has more columns or values than fit into a plan"
        intent = _declined(conversation.request, reason)
    lines = ["# Research", "", *(["## Files", *files, ""] if files else []), "## Request"]
    lines += [f"- {line}" for line in _described(intent).researched]
    return "\n".join([*lines, "", encode_intent(intent), *encode_said(conversation.read_as)])


def _intent(conversation: PlannerConversation, request: str) -> tuple[Intent, list[str]]:
    """Return what a request asks for, and lines on the files."""
    try:
        if asks_for_abilities(request):
            raise UnclearError("it asks what can be done")
        if len(request) <= MAX_REQUEST_CHARACTERS:
            if is_look(request):
                return parse_look(request, conversation.paths), []
            if asks_for_profile(request):
                return parse_profiles(request, conversation.paths), []
    except UnclearError as unclear:
        return _declined(request, str(unclear)), []
    return _job(conversation, request)


def _job(conversation: PlannerConversation, request: str) -> tuple[Intent, list[str]]:
    is_replaced = _is_replacement(request, conversation.paths)
    looked = () if is_replaced else _looked_at(request, conversation.paths)
    tables, failed = inspect(conversation, request, looked)
    if not tables and not failed and not is_replaced:
        # Nothing is declined before the files were looked at.
        conversation.call("list_files")
    today = conversation.today or datetime.now(UTC).date()
    lines = []
    for table in tables:
        names = ", ".join(f'"{column.name}" ({column.type})' for column in table.columns[:40])
        lines.append(f"- {table.label}: {table.rows:,} rows; {names}")
    found = read_request(request, tables, conversation.paths, today)
    # Without a table nothing can be said of the request, least of all what it lacks.
    if conversation.fault is not None and not tables and not isinstance(found, Understood):
        raise conversation.fault
    match found:
        case Understood(job, words, notes):
            notes = (*failed, *notes) if len(tables) > 1 else notes
            intent = JobIntent(_read_as_said(job, conversation), words, notes)
            return _checked(conversation, intent, request), lines
        case Question(text, options):
            return _declined(request, text, options, is_question=True), lines
        case Declined(reason, suggestions):
            if failed and not tables:
                reason = failed[0]
            elif failed and conversation.fault is not None:
                reason = f"{reason} ({failed[0]})"
            return _declined(request, reason, suggestions), lines


def _is_replacement(request: str, paths: Sequence[str]) -> bool:
    try:
        return replaced(request, paths) is not None
    except UnclearError:
        return True


def _looked_at(request: str, paths: Sequence[str]) -> Sequence[str]:
    """Return the files that are looked at: those that are named, of those that are none all."""
    try:
        named = named_files(request, paths).sources
    except UnclearError:
        return paths
    tables = [path for path in named if split_suffix(path)[1] in ALL_TABLES]
    if len(tables) == 1 and _SEVERAL.search(request):
        return paths
    return tables or paths


_SEVERAL = re.compile(
    r"(?i)\b(?:look\s*up|[vx]lookup|sverweis|nachschlag\w*|match|join|enrich|missing|not\s+in|nicht\s+in"
    r"|all|both|alle|beide)\b"
)
"""Words that speak of more tables than the one that is named."""


def _read_as_said(job: Job, conversation: PlannerConversation) -> Job:
    """Return a job whose tables are read as was said."""
    if not conversation.read_as:
        return job
    read_as = msgspec.convert(conversation.read_as, ReadAs)
    inputs = tuple(
        one if one.kind == "file" or one.read_as.totals
        else msgspec.structs.replace(one, read_as=read_as) for one in job.inputs
    )  # fmt: skip
    return msgspec.structs.replace(job, inputs=inputs)


def _checked(conversation: PlannerConversation, intent: JobIntent, request: str) -> Intent:
    """Return the intent where its job can be carried out, else why it cannot."""
    try:
        checked = conversation.call("check_job", job=msgspec.to_builtins(intent.job))
    except CallFailedError as failed:
        text = str(failed)
        return _declined(request, text.partition(": ")[2] or text)
    if checked["failed"]:
        return _declined(request, _failed_text(intent, checked["failed"]))
    return intent


def _failed_text(intent: JobIntent, failed: Sequence[str]) -> str:
    """Return why a job may not be carried out; that it chooses no row in the request's words."""
    chosen = [one.table for one in intent.job.checks if isinstance(one, RowCountCheck)]
    if any(f"{table} has 0 rows" in text for table in chosen for text in failed):
        return f"no row is left: {intent.words.rpartition(', in ')[0] or intent.words}"
    return "; ".join(failed)


def plan(conversation: PlannerConversation) -> str:
    """Return plan.md: one item, and the intent in the notes."""
    intent = decode_intent(conversation.block("research") or conversation.request)
    if intent is None:
        intent = _declined(conversation.request, "the research was not made by this provider")
    told = _described(intent)
    words = _on_one_line(told.words)
    if isinstance(intent, DeclinedIntent):
        item = "Final: Answer — Say what was understood and what can be done"
    else:
        item = f"Final: {told.result or 'Answer'} — {words}"
    item = item if len(item) <= _MAX_ITEM_TEXT else item[: _MAX_ITEM_TEXT - 1] + "…"
    lines = ["# Execution Plan", "", "## Task", words, "", "## Items", "", f"- [ ] 1. {item}", ""]
    lines += ["## Notes", *(f"- {note}" for note in told.planned)]
    lines += [*encode_said(conversation.read_as)]
    lines += ["- For the offline provider, which reads no prose:", encode_intent(intent)]
    return "\n".join(lines)


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
        KbdError: A tool failed by a fault of the machine, which ends the run.
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
        return f"{ABILITIES}\nFor anything else {_A_MODEL}."
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
    words = "" if intent is None else _on_one_line(_described(intent).words)
    lines = [*([f"I read this as: {words}."] if words else ()), *done]
    told = "\n".join(done)
    lines += [
        f"{str(change.get('change_type', 'modified')).capitalize()}: {change.get('path')}."
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
    return "\n".join([*lines, _NOT_A_MODEL])


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
