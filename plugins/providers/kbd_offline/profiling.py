"""A report of what files hold: which files, and as what."""

import re

from kbd_offline.conversation import Conversation
from kbd_offline.files import chosen_files, named_files, only_target
from kbd_offline.findings import Findings
from kbd_offline.intents import Profiled
from kbd_offline.names import free_name, split_suffix
from kbd_offline.profiles import collect
from kbd_offline.reports import REPORT_SUFFIXES, write_report
from kbd_offline.vocabulary import PROFILING
from kbd_offline.wording import UnclearError, Wording

__all__ = ["look", "profile", "read"]

MAX_FILES = 50
_KIND = re.compile(
    r"\b(?:to|into|as|in|an?|make|write|create)\s+(?:(?:an?|new|short|full|one)\s+)*"
    r"(word|docx|document|excel|xlsx|workbook|spreadsheet|markdown|md|plain\s+text|text|txt)\b"
)
_SUFFIXES = {
    "word": ".docx", "docx": ".docx", "document": ".docx", "excel": ".xlsx", "xlsx": ".xlsx",
    "workbook": ".xlsx", "spreadsheet": ".xlsx", "text": ".txt", "txt": ".txt",
}  # fmt: skip


def look(conversation: Conversation, request: str) -> Findings:
    """Read a request for a report on files, and look at them.

    Raises:
        UnclearError: It has no reading, or names too many files.
        PendingError, ValidationFailed: As for `Conversation.call`.
    """
    intent = read(request, conversation.paths)
    profiles = collect(conversation, intent.paths)
    lines = tuple(f"- {one.path}: {one.brief}" for one in profiles)
    notes = tuple(f"{one.path}: {note}" for one in profiles for note in one.notes)
    return Findings(intent, lines, notes)


def read(request: str, paths: tuple[str, ...]) -> Profiled:
    """Return which files a report is asked of, and its name.

    Raises:
        UnclearError: There is none, there are too many, or it asks for more than a profile.
    """
    named = named_files(request, paths)
    target = only_target(named.targets, REPORT_SUFFIXES, "only docx, md, txt and xlsx reports")
    wording = Wording(named.text)
    kinds = _KIND.findall(wording.folded)
    suffix = _SUFFIXES.get(kinds[-1].split()[-1], ".md") if kinds else ".md"
    chosen = chosen_files(named, paths)
    wording.check_rest(PROFILING, chosen)
    if not chosen:
        raise UnclearError("there is no file in the workbench that it can be about")
    if len(chosen) > MAX_FILES:
        raise UnclearError(f"I report on up to {MAX_FILES} files, and these are {len(chosen)}.")
    if target is None:
        target = free_name(f"profile{suffix}", paths)
    elif not split_suffix(target)[1]:
        target += suffix
    if target.casefold() in {path.casefold() for path in paths}:
        raise UnclearError(f"{target} is in the workbench already: name another result.")
    return Profiled(tuple(chosen), target)


def profile(conversation: Conversation, intent: Profiled) -> str:
    """Write the report and tell what is in it; see `Conversation.call` for what it raises."""
    profiles = collect(conversation, intent.paths)
    write_report(conversation, intent.target, profiles)
    lines = [f"{intent.target} tells of {len(profiles)} file{'' if len(profiles) == 1 else 's'}:"]
    lines += [f"  - {one.path}: {one.brief}" for one in profiles]
    return "\n".join(lines)
