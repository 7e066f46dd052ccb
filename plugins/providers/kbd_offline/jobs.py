"""Which kind of job a request asks for, by its verbs; all else is work on one table. Pure.

What the offline provider says when it does not do a request. Pure.
"""

import re
from enum import Enum, auto

from kbd_offline.intents import Declined
from kbd_offline.names import fold
from kbd_offline.request_text import QUOTED, UnclearError

__all__ = ["NOT_A_MODEL", "JobKind", "explained", "job_of"]


class JobKind(Enum):
    """The kinds of jobs; each is read by rules of its own."""

    TABLE = auto()
    DEDUPE = auto()
    MERGE = auto()
    PROFILE = auto()
    REPLACE = auto()


# A verb counts where a sentence or its next part begins: "by Merge Status" asks for no merge.
_BEGINS = (
    r"(?:^|[.,;:!]|\b(?:and|then|please|to|you|just|kindly|lets?|now|first|bitte|want|need)\b)\s*"
    r"(?:(?:please|just|also|do)\s+)*"
)
_DEDUPE = (
    rf"{_BEGINS}(?:de-?dup\w*|dedup\w*)"
    r"|\b(?:remov|delet|drop|strip|eliminat|clean|purg|discard|get\s+rid|without"
    r"|leav\w*\s+out|filter\s+out|throw\s+out)\w*\b[^.;]{0,40}?"
    r"\b(?:duplicat\w*|repeated\s+(?:rows|records|entries|lines)|doubles|double\s+rows)\b"
    r"|\bduplicat\w*\b[^.;]{0,40}?\b(?:remove|delete|drop)\s+(?:them|those|these)\b"
    r"|\b(?:remov|delet|drop)\w*\s+(?:the\s+|all\s+)*(?:rows|records|entries|lines)\s+"
    r"(?:with|having|(?:that|which)\s+(?:have|share))\s+the\s+same\b"
    rf"|{_BEGINS}(?:keep|get|list|only|give\s+me)\s+(?:only\s+)?(?:the\s+)?(?:unique|distinct)"
    r"\s+(?:rows|records|entries|lines)\b"
)
_MERGE = (
    rf"{_BEGINS}(?:merge|combine|concat\w*|stack|consolidate|append|join|unite|union)\b"
    rf"|{_BEGINS}put\s+(?!each|every)[^.;]{{0,80}}?\b(?:together|(?:in|into)\s+(?:one|a\s+single)"
    r"\s+(?:file|table|list))\b"
)
_PROFILE = (
    rf"{_BEGINS}profile\b|\b(?:a|an|the|data|file|quality)\s+(?:data\s+)?profile\s+(?:of|for|report)\b"
    r"|\bdata\s+profiles?\b|\bprofiling\b"
    r"|\b(?:summary|descriptive|column)\s+statistics\b"
    r"|\b(?:data\s+quality|profile)\s+report\b|\binventory\s+of\b"
    r"|\b(?:report|overview)\s+(?:of|on|about)\s+(?:(?:the|these|all|my|what)\s+)*"
    r"(?:(?:csv|excel|word|data)\s+)?(?:files?|workbooks?|documents|tables)\b"
    rf"|{_BEGINS}describe\s+(?:(?:the|these|all|my|data)\s+)*(?:files?|tables?|columns|data)\b"
)
_THINGS = (
    r"(?:all|every|each|any|the|of|occurrences?|instances?|words?|texts?|terms?|phrases?|strings?"
    r"|names?)"
)
_REPLACE = (
    rf"{_BEGINS}(?:find\s+(?:and|&)\s+)?(?:replac|substitut)\w*\b|\bfind\s+(?:and|&)\s+replace\b"
    rf"|{_BEGINS}(?:change|rename|correct|swap|turn|fix)\s+(?:{_THINGS}\s+)*\"[^\"]*\""
    r"\s*(?:to|into|for|with|by)\s+(?:the\s+)?\""
    rf"|{_BEGINS}(?:remove|delete|erase)\s+(?:{_THINGS}\s+)+\""
    rf"|{_BEGINS}find\b[^.;]*?\band\s+(?:replace|change)\b"
)
_RULES = (
    (JobKind.REPLACE, _REPLACE),
    (JobKind.DEDUPE, _DEDUPE),
    (JobKind.MERGE, _MERGE),
    (JobKind.PROFILE, _PROFILE),
)


def job_of(text: str) -> JobKind:
    """Return the kind of job that a request asks for.

    Args:
        text: The request, the names of files blanked.

    Raises:
        UnclearError: It asks for two of them at once.
    """
    # What stands in quotes is a text or a name, and asks for nothing.
    bare = re.sub(QUOTED, lambda found: '"' + " " * (len(found.group()) - 2) + '"', text)
    folded = fold(bare)
    found = [job for job, pattern in _RULES if re.search(pattern, folded)]
    if len(found) > 1:
        names = " and ".join(job.name.lower() for job in found)
        raise UnclearError(f"it asks for two jobs ({names}): ask for one after the other.")
    return found[0] if found else JobKind.TABLE


NOT_A_MODEL = "kbd's offline provider did this by fixed rules; it is not a language model."

_WHAT_IT_CAN = """\
I am kbd's offline provider: fixed rules, not a language model. On a table of the workbench (csv, \
tsv, or a sheet of a workbook) I can
- put each value of a column on its own sheet, with a summary sheet of totals
- total, average or count by one or more columns
- filter, sort and choose columns
- convert it: csv to xlsx, a sheet or every sheet to csv or tsv
- remove duplicate rows, as a whole or by columns
On several files I can
- merge tables with the same columns into one
- write a report of what they hold (docx, md, txt, xlsx)
- replace a text by another one, in documents, decks, cells and texts

Say it with the names of columns, for example: one sheet per Category with Date and Amount sorted \
by Date, and a summary sheet with totals.
For anything else connect a model: set OPENAI_API_KEY (or OPENAI_BASE_URL for a server of your \
own) and use --model openai:NAME."""


def explained(intent: Declined) -> str:
    """Return what was understood, why it is not done, what can be done, how to connect a model."""
    return (
        "This was not done, and nothing was changed.\n\n"
        f"I read the request as: {intent.understood}\n"
        f"Why not: {intent.reason}\n\n"
        f"{_WHAT_IT_CAN}"
    )
