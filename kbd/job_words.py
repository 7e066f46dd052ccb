"""Words of a job: which tables it reads, and whether it only looks or converts. Pure.

A table may leave something open that only matters to some jobs. What the words of a job rule out
is not asked about: whatever they leave in doubt is.
"""

import re
from collections.abc import Collection, Mapping, Sequence

__all__ = ["NamedTable", "is_conversion", "is_look", "tables_meant"]

NamedTable = tuple[str, str | None]
"""A table: its file, and its sheet where that is named."""

_WORDS = re.compile(r"\"[^\"\n]+\"|[^\s\",;]+")
_NAME = re.compile(r"\".+\"|\S+\.\w{2,7}")
_VERBS = frozenset(("convert", "turn", "transform", "export", "save", "copy", "change"))
_THINGS_TEXT = """
the this that these all each every both my it its them of and file files table tables sheet sheets
workbook workbooks book books spreadsheet spreadsheets
"""
_THINGS = frozenset(_THINGS_TEXT.split())
_FIGURES = ("total", "sum", "subtotal", "average", "mean", "count", "percent")


def is_conversion(job: str) -> bool:
    """Tell whether a job is, word for word, that tables go over whole into another kind of file.

    No row of them is left out then, so that nothing hangs on which of them are totals.
    """
    words = _WORDS.findall(job.casefold().strip().rstrip(".!"))
    leads = [place for place, word in enumerate(words) if word in ("to", "into", "as")]
    if len(leads) != 1:
        return False
    before, behind = words[: leads[0]], words[leads[0] + 1 :]
    before = before[1:] if before[:1] == ["please"] else before
    things = before[1:] if before and before[0] in _VERBS else before
    if len(behind) > 1 and behind[-2] in ("called", "named"):
        behind = behind[:-2]
    kinds = [word for word in behind if word not in ("a", "an", "one", "new")]
    kinds = kinds[:1] if kinds[1:] and set(kinds[1:]) <= _THINGS else kinds
    return (
        len(kinds) == 1
        and (_NAME.fullmatch(kinds[0]) is not None or kinds[0].isalpha())
        and not kinds[0].startswith(_FIGURES)
        and all(word in _THINGS or _NAME.fullmatch(word) for word in things)
    )


_LONGEST_LOOK = 200
"""Characters; who looks asks in a few words."""

_DETERMINERS = r"(?:(?:the|this|that|these|those|all|my|each|every|both|whole) )*"
_THING = (
    rf"{_DETERMINERS}(?:it|this|that|them|these|those|here|there|columns?|data ?sets?"
    rf"|(?:(?!(?:{'|'.join(_FIGURES)})s?\b)\w+ )?"
    r"(?:files?|tables?|sheets?|workbooks?|spreadsheets?|books?|data))"
)
_SACHE = (
    r"(?:die|der|das|den|diese[rsn]?|meine[rn]?|alle|es|sie|hier) ?"
    r"(?:datei(?:en)?|tabellen?|daten|mappen?|spalten)?"
)
_GIVE = r"(?:give me |show me |make |write )?(?:(?:a|an|the) )?(?:short |quick |brief )?"
_PARTS = r"(?:columns?|column names|fields?|headers?|headings?|structure|schema|contents?|sheets?)"
_LOOKS = rf"""
what(?:s|'s| is| are) (?:there )?(?:in|inside|on) {_THING}
what(?:s|'s| is| are) {_THING}(?: about)?
what (?:does|do) {_THING} (?:contain|hold|have|look like)(?: in it)?
(?:what|which) {_PARTS}(?: (?:are|is|does|do) {_THING})?(?: (?:have|has|contain))?(?: in {_THING})?
(?:show|list|name|tell|give|print)(?: me)? {_DETERMINERS}(?:its )?{_PARTS}(?: (?:of|in) {_THING})?
(?:describe|profile|inspect|look (?:at|into)) {_THING}
{_GIVE}(?:overview|description|profile|look)(?: (?:of|at|on|into) {_THING})?
was (?:ist|steht|sind) (?:{_SACHE} )?(?:da |hier )?(?:drin|darin|in {_SACHE})
was (?:enth[aä]lt|enthalten) {_SACHE}
(?:welche|was f[uü]r) spalten(?: (?:gibt es|hat {_SACHE}|sind (?:das|drin|darin)))?
(?:beschreib|beschreibe|zeig|zeige)(?: mir)? {_SACHE}
"""
_LOOK = re.compile(rf"(?:{'|'.join(_LOOKS.split(chr(10))[1:-1])})")
_BEFORE = re.compile(r"^(?:(?:please|hi|hello|hey|so|ok|can you|could you|bitte)[ ,]+)*")
_BEHIND = re.compile(r"(?:[ ,]+(?:please|bitte))?[ ?.!]*$")


def is_look(job: str) -> bool:
    """Tell whether a job only asks what files hold, word for word: no figure is made for it."""
    if len(job) > _LONGEST_LOOK:
        return False
    text = " ".join("it" if _NAME.fullmatch(word) else word for word in _looking_words(job))
    text = re.sub(r"\bit(?: and it)+\b", "it", _BEHIND.sub("", _BEFORE.sub("", text)))
    # "In file it": the word beside a name that is gone.
    text = re.sub(r"\b(?:the )?(?:file|table|workbook|sheet|datei|tabelle) it\b", "it", text)
    return _LOOK.fullmatch(text) is not None


def _looking_words(job: str) -> list[str]:
    """Return the words of a job, a sign at the end of a name left aside."""
    words = _WORDS.findall(job.casefold().replace("’", "'"))
    return [word.rstrip("?.!") if _NAME.fullmatch(word.rstrip("?.!")) else word for word in words]


_EVERY = re.compile(
    r"\b(?:all|every|each|both|these|those)\s+(?:the\s+)?(?:\w+\s+)?"
    r"(?:files?|tables?|workbooks?|spreadsheets?|csvs?|lists?|(?:work)?sheets|tabs)\b"
    r"|\b(?:every|each)\s+(?:work)?(?:sheet|tab)\b"
    r"|\b(?:alle[nr]?|jede[nmrs]?|beide[n]?)\s+(?:datei(?:en)?|tabellen?|bl[aä]tter|blatt|mappen?)\b"
)
"""Words of a job on more than the tables that it names."""

_TOGETHER = re.compile(
    r"\b(?:merg|combin|join|append|stack|concat|consolidat|unit|profil|compar)\w*\b|\btogether\b"
)
"""Words of a job that may be on all tables where it names none."""

_SHEET = r"(?:(?:work)?sheets?|tabs?|(?:tabellen)?blatt)"
_LEADS = r"(?:of|in|from|on|for|within|von|aus|auf|im)"
_OPENING, _CLOSING = "\"'“‘„`", "\"'”’“`"


def tables_meant(job: str, tables: Mapping[NamedTable, Collection[str]]) -> frozenset[NamedTable]:
    """Return the tables that a job reads by its words; all where these do not tell.

    Args:
        job: What is to be done.
        tables: All tables, each with its columns; without any where they are not known.
    """
    text = job.casefold()
    if not text or _EVERY.search(text):
        return frozenset(tables)
    named = _named_in(text, list(dict.fromkeys(path for path, _ in tables)))
    pool = [table for table in tables if not named or table[0] in named]
    sheets = [table for table in pool if _is_named_sheet(text, table[1], tables[table])]
    if sheets:
        books = {path for path, _ in sheets}
        beside = [table for table in pool if named and table[0] not in books]
        return frozenset((*sheets, *beside))
    if not named:
        return frozenset(pool if _TOGETHER.search(text) else _by_columns(text, pool, tables))
    by_file = ([table for table in pool if table[0] == path] for path in named)
    return frozenset(
        table
        for some in by_file
        for table in (some if _TOGETHER.search(text) else _by_columns(text, some, tables))
    )


def _by_columns(
    text: str, pool: Sequence[NamedTable], tables: Mapping[NamedTable, Collection[str]]
) -> list[NamedTable]:
    """Return the tables with the columns that a text names."""
    known = {
        table: frozenset(name for name in map(str.casefold, tables[table]) if _stands(name, text))
        for table in pool
    }
    wanted = frozenset[str]().union(*known.values())
    # Those that have all columns that the job names; of a join each has some.
    most = [table for table, found in known.items() if found == wanted]
    return most or [table for table, found in known.items() if found]


def _named_in(text: str, paths: Sequence[str]) -> list[str]:
    """Return the files that a text names with their suffix; then others by their names alone."""
    names = {path: path.rpartition("/")[2].casefold() for path in paths}
    if not any(_stands(name, text) for name in names.values()):
        return []
    return [
        path
        for path, name in names.items()
        if _stands(name, text) or _stands(name.rpartition(".")[0], text)
    ]


def _is_named_sheet(text: str, sheet: str | None, columns: Collection[str]) -> bool:
    """Tell whether a text names a sheet: by the word for one, in quotes, or behind "of" or "in".

    One that is called as a column is named by the word alone.
    """
    if not sheet:
        return False
    name = re.escape(sheet.casefold())
    quoted = rf"[{_OPENING}]{name}[{_CLOSING}]"
    one = rf"(?:{quoted}|{name}(?![\w-]))"
    patterns = [rf"\b{_SHEET}\s+(?:(?:called|named)\s+)?{one}", rf"(?<![\w-]){one}\s+{_SHEET}\b"]
    if sheet.casefold() not in map(str.casefold, columns):
        patterns += [quoted, rf"\b{_LEADS}\s+(?:the\s+|der\s+|dem\s+)?{name}(?![\w-])"]
    return any(re.search(pattern, text) for pattern in patterns)


def _stands(name: str, text: str) -> bool:
    """Tell whether a name stands in a text, and is not within a longer word."""
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text) is not None
