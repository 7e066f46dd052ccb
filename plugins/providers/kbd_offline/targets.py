"""The name and kind of a result, as a request gives it or as it is by default. Pure."""

import re

from kbd_offline.files import BOOK_SUFFIX, TABLE_SUFFIXES, Files
from kbd_offline.names import free_name, split_suffix
from kbd_offline.wording import UnclearError, Wording

__all__ = ["BOOK", "RESULT", "said_suffix", "target_for"]

BOOK = r"\b(?:excel|xlsx|workbook|spreadsheet|(?:work)?sheets?)\b"
"""Words that speak of a workbook."""

RESULT = (
    r"\b(?:to|into|as|in|an?)\s+(?:(?:an?|one|new|single|its|their|own|separate)\s+)*"
    r"(csv|tsv|tab[- ](?:separated|delimited)|excel|xlsx|workbook|spreadsheet|(?:work)?sheet)s?\b"
)
"""How the kind of the result is told; the first group is the kind."""

_PLAIN = {"csv": ".csv", "tsv": ".tsv"}


def said_suffix(wording: Wording) -> str | None:
    """Return the suffix of the kind of result that a request asks for, or None."""
    said = list(re.finditer(RESULT, wording.folded))
    if not said:
        return None
    kind = said[-1].group(1)
    return ".tsv" if kind.startswith("tab") else _PLAIN.get(kind, BOOK_SUFFIX)


def target_for(files: Files, name: str, suffix: str) -> str:
    """Return the name of the result: what the request says, else a free one of the right kind.

    Raises:
        UnclearError: The request names a file that is there already.
    """
    if files.target is None:
        return free_name(name + suffix, files.taken)
    stem, given = split_suffix(files.target)
    target = files.target if given in (BOOK_SUFFIX, *TABLE_SUFFIXES) else stem + suffix
    if target.casefold() in {path.casefold() for path in files.taken}:
        raise UnclearError(f"{target} is in the workbench already: name another result.")
    return target
