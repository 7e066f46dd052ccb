"""Phases of a run of a document: research checks all jobs, the one item carries them out.

What does not fit is found before anything is written. A job that fails while it is carried out ends
the attempt, which takes back what the jobs before it wrote; the second attempt then says why.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.jobs.records import Job
from kbd_recipe.conversation import CallRefusedError, PhaseConversation

__all__ = ["AskedDocument", "implement", "plan", "refusal_in", "research", "summary"]

_HEADING = "## "
_NOT_DONE = "- Not done: "
_GUARD = "it cannot be carried out: "
_REFUSED = ("VALIDATION_FAILED", "NOT_FOUND", "FILE_READ_FAILED", "SANDBOX_VIOLATION")
"""Codes that say that a job does not fit these files; others may pass."""

_MAX_CHECKS = 60
_MAX_LISTED = 50
_MAX_ROWS = 50


class AskedDocument(msgspec.Struct, frozen=True):
    """A document to be carried out.

    Args:
        label: What it is called: `the job`, `the recipe monthly-split`.
        words: What it does.
        jobs: Its jobs.
        faults: Why it may not be carried out, whatever the files are.
    """

    label: str
    words: str
    jobs: tuple[Job, ...]
    faults: tuple[str, ...] = ()


def research(conversation: PhaseConversation, document: AskedDocument) -> str:
    """Return research.md: what the document does with these files, and what its guards say.

    Raises:
        PendingCallError, ValidationFailed: As `PhaseConversation.call`.
    """
    lines, refusals = [], list(document.faults)
    for number, job in enumerate(document.jobs if not refusals else (), 1):
        try:
            found = conversation.call("check_job", job=msgspec.to_builtins(job))
        except CallRefusedError as refused:
            if refused.code not in _REFUSED:
                raise ValidationFailed(str(refused)) from None
            refusals.append(_numbered(document, number, refused.reason))
            continue
        lines += ["", f"{_HEADING}{found['words']}", *(f"- {line}" for line in found["steps"])]
        lines += [f"- Holds: {text}" for text in _first(found["checks"], _MAX_CHECKS)]
        lines += [f"- Noted: {text}" for text in _first(found["notes"], _MAX_CHECKS)]
        refusals += [_numbered(document, number, text) for text in found["failed"]]
    title = f"# {document.label[:1].upper()}{document.label[1:]}"
    return "\n".join([title, "", document.words, *lines, "", *_not_done(refusals)]).strip()


def plan(conversation: PhaseConversation, document: AskedDocument) -> str:
    """Return the plan: one item, so that all of it is done or nothing."""
    findings = conversation.block("research")
    reason = _reason_in(findings)
    # With the names of the files, where they fit.
    found = [line.removeprefix(_HEADING) for line in findings.splitlines() if _HEADING in line[:3]]
    text = _one_line(" Then: ".join(found) or document.words, 400)
    return "\n".join([
        "# Execution Plan", "", "## Task", _one_line(document.words, 4_000), "", "## Items", "",
        f"- [ ] 1. {text if not reason else f'Not done: {text}'}", "", "## Notes",
        f"- All of {document.label} is done, or nothing; no model is asked.", *_not_done(reason),
    ])  # fmt: skip


def refusal_in(conversation: PhaseConversation) -> str:
    """Return why the item is not done, or ""; told before any job of it is carried out."""
    reason = _reason_in(conversation.block("plan"))
    if reason:
        return "; ".join(reason)
    failure = conversation.block("failure") if conversation.attempt > 1 else ""
    return failure.partition(_GUARD)[2].strip()


def implement(conversation: PhaseConversation, document: AskedDocument) -> str:
    """Carry out all jobs and return what came of them.

    Raises:
        PendingCallError: As `PhaseConversation.call`.
        ValidationFailed: A job failed; what the ones before it wrote is to be taken back.
    """
    if reason := refusal_in(conversation):
        return f"Nothing was done: {reason}"
    told: list[str] = []
    for number, job in enumerate(document.jobs, 1):
        try:
            found = conversation.call("run_job", job=msgspec.to_builtins(job))
        except CallRefusedError as refused:
            reason = _numbered(document, number, refused.reason)
            if refused.code in _REFUSED:
                raise ValidationFailed(f"{_GUARD}{reason}") from None
            raise ValidationFailed(f"{refused.code}: {reason}") from None
        told += _outcome(found)
    return "\n".join(told)


def summary(conversation: PhaseConversation, document: AskedDocument) -> str:
    """Return the message to the person: what came of it."""
    items = conversation.results()
    failed = [item for item in items if item.get("state") == "failed"]
    told = [str(item.get("text", "")) for item in items if item not in failed]
    told += [f"Nothing was done: {item.get('reason', '')}" for item in failed]
    return "\n".join([*told, "", f"Done by {document.label}, without a model: {document.words}"])


def _outcome(found: dict[str, Any]) -> list[str]:
    lines = [_output(each) for each in _first(found["outputs"], _MAX_LISTED)]
    if (more := len(found["outputs"]) - _MAX_LISTED) > 0:
        lines.append(f"- and {more} more files")
    for answer in found["answers"]:
        lines += [answer["text"]] if answer["text"] else []
        if answer["row_count"] == 1 and answer["text"]:
            continue
        lines.append(" | ".join(answer["columns"]))
        lines += [" | ".join(map(_shown, row)) for row in answer["rows"][:_MAX_ROWS]]
        if (more := answer["row_count"] - min(len(answer["rows"]), _MAX_ROWS)) > 0:
            lines.append(f"… and {more} more rows")
    return [*lines, *(f"- Note: {text}" for text in _first(found["notes"], _MAX_LISTED))]


def _output(output: dict[str, Any]) -> str:
    path = output["target_path"]
    if "replacements" in output:
        return f"- {path}: replaced {output['replacements']} times"
    sheets = output.get("sheets", ())
    if not sheets:
        return f"- {path}"
    if len(sheets) == 1:
        return f"- {path}: {sheets[0]['row_count']} rows"
    told = [f'"{each["sheet"]}" {each["row_count"]}' for each in sheets[:_MAX_LISTED]]
    return f"- {path}: {len(sheets)} sheets with their rows: {', '.join(told)}"


def _shown(value: Any) -> str:
    return "" if value is None else str(value)


def _numbered(document: AskedDocument, number: int, reason: str) -> str:
    return f"job {number}: {reason}" if len(document.jobs) > 1 else reason


def _not_done(reasons: Sequence[str]) -> list[str]:
    return [f"{_NOT_DONE}{_one_line(reason, 2_000)}" for reason in reasons]


def _reason_in(text: str) -> list[str]:
    return [
        line.removeprefix(_NOT_DONE) for line in text.splitlines() if line.startswith(_NOT_DONE)
    ]


def _one_line(text: str, characters: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[: characters - 1]}…"


def _first(texts: Sequence[Any], count: int) -> Sequence[Any]:
    return texts[:count]
