"""Research: the files are looked at, the request is read against them, the job is checked."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import assert_never

import msgspec

from kbd.job_words import is_look
from kbd.jobs.records import Input, Job, RowCountCheck
from kbd.types import ReadAs
from kbd_offline.abilities import asks_for_abilities
from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.inspection import TableFinding, inspect
from kbd_offline.intents import DeclinedIntent, Intent, JobIntent, ProfileIntent, encode_intent
from kbd_offline.names import split_suffix
from kbd_offline.profiles import asks_for_profile, parse_look, parse_profiles
from kbd_offline.request import Declined, Question, Understood, read_request
from kbd_offline.request_files import ALL_TABLES, MAX_REQUEST_CHARACTERS, named_files
from kbd_offline.scan import UnclearError
from kbd_offline.substitution import replaced

__all__ = ["research_intent", "research_text"]

MAX_INTENT_CHARACTERS = 18_000
"""Well within what the notes of a plan, which carry the intent on, hold."""

_MAX_QUOTED = 200


def research_text(conversation: PlannerConversation) -> str:
    """Return research.md.

    Raises:
        PendingError, ValidationFailed: As for `PlannerConversation.call`.
    """
    intent, lines = research_intent(conversation)
    if len(encode_intent(intent)) > MAX_INTENT_CHARACTERS:
        reason = "the job has more columns or values than fit into a plan"
        intent = DeclinedIntent(shortened(conversation.request), reason)
    told: list[str]
    match intent:
        case DeclinedIntent():
            told = [f"- Understood: {intent.understood}", f"- Not done: {intent.reason}"]
        case JobIntent():
            told = [
                f"- {intent.words}",
                "- Read by the rules of the offline provider, which is not a model.",
            ]
        case ProfileIntent():
            told = [f"- {profile_words(intent)}"]
        case _:
            assert_never(intent)
    files = ["## Files", *lines, ""] if lines else []
    return "\n".join(["# Research", "", *files, "## Request", *told, "", encode_intent(intent)])


def profile_words(intent: ProfileIntent) -> str:
    """Return in words what a profile is of."""
    shown = ", ".join(intent.paths)
    return f"A report on {shown}, in {intent.target}" if intent.target else f"What {shown} holds"


def shortened(request: str) -> str:
    """Return a request on one line, at most 200 characters."""
    line = " ".join(request.split())
    return line if len(line) <= _MAX_QUOTED else line[: _MAX_QUOTED - 1] + "…"


def research_intent(conversation: PlannerConversation) -> tuple[Intent, list[str]]:
    """Return what a request asks for, and lines on the files.

    Raises:
        PendingError, ValidationFailed: As for `PlannerConversation.call`.
    """
    request = conversation.request
    parse: Callable[[str, tuple[str, ...]], ProfileIntent] | None = None
    if len(request) <= MAX_REQUEST_CHARACTERS:
        parse = (
            parse_look
            if is_look(request)
            else parse_profiles
            if asks_for_profile(request)
            else None
        )
    try:
        if asks_for_abilities(request):
            raise UnclearError("it asks what can be done")
        if parse is not None:
            return parse(request, conversation.paths), []
    except UnclearError as unclear:
        return DeclinedIntent(shortened(request), str(unclear)), []
    return _job(conversation, request)


def _job(conversation: PlannerConversation, request: str) -> tuple[Intent, list[str]]:
    is_replaced = _is_replacement(request, conversation.paths)
    looked = () if is_replaced else _looked_at(request, conversation.paths)
    found, failed = inspect(conversation, request, looked)
    if not found and not failed and not is_replaced:
        # Nothing is declined before the files were looked at.
        conversation.call("list_files")
    tables = [one.table for one in found]
    today = datetime.now(UTC).date() if conversation.today is None else conversation.today
    reading = read_request(request, tables, conversation.paths, today)
    lines = _lines(found)
    match reading:
        case Understood():
            notes = (*failed, *reading.notes) if len(tables) > 1 else reading.notes
            intent: Intent = JobIntent(
                _read_as_said(reading.job, conversation), reading.words, notes
            )
            return _checked(conversation, intent, request), lines
        case Question():
            return DeclinedIntent(
                shortened(request), reading.text, reading.options, is_question=True
            ), lines
        case Declined():
            reason = failed[0] if failed and not tables else reading.reason
            return DeclinedIntent(shortened(request), reason, reading.suggestions), lines


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
    inputs: list[Input] = [
        one
        if one.kind == "file" or one.read_as.totals
        else msgspec.structs.replace(one, read_as=read_as)
        for one in job.inputs
    ]
    return msgspec.structs.replace(job, inputs=tuple(inputs))


def _checked(conversation: PlannerConversation, intent: Intent, request: str) -> Intent:
    """Return the intent where its job can be carried out, else why it cannot."""
    if not isinstance(intent, JobIntent):
        return intent
    try:
        checked = conversation.call("check_job", job=msgspec.to_builtins(intent.job))
    except CallFailedError as failed:
        text = str(failed)
        return DeclinedIntent(shortened(request), text.partition(": ")[2] or text)
    if checked["failed"]:
        return DeclinedIntent(shortened(request), _failed_text(intent, checked["failed"]))
    return intent


def _failed_text(intent: JobIntent, failed: Sequence[str]) -> str:
    """Return why a job may not be carried out; that it chooses no row in the request's words."""
    chosen = [one.table for one in intent.job.checks if isinstance(one, RowCountCheck)]
    if any(f"{table} has 0 rows" in text for table in chosen for text in failed):
        return f"no row is left: {intent.words.rpartition(', in ')[0] or intent.words}"
    return "; ".join(failed)


def _lines(found: Sequence[TableFinding]) -> list[str]:
    lines = []
    for one in found:
        table = one.table
        names = ", ".join(f'"{column.name}" ({column.type})' for column in table.columns[:40])
        lines.append(f"- {table.label}: {table.rows:,} rows; {names}")
    return lines
