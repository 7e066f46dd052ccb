"""Abilities of the provider, each with an example: the ones nearest to a request, or all. Pure."""

import re

import msgspec

from kbd_offline.names import fold, tokens

__all__ = [
    "HOW_TO_ASK",
    "all_abilities",
    "asks_for_abilities",
    "nearest_abilities",
    "nearest_examples",
]

MAX_NEAREST = 3
"""Abilities that are listed for a request that has no reading; more are not read."""

HOW_TO_ASK = "what can you do?"
"""What is answered with all abilities."""

HOW_TO_SEE_ALL = f'To see all that I can do, ask "{HOW_TO_ASK}".'


class _Ability(msgspec.Struct, frozen=True):
    """What can be asked for.

    Args:
        text: It, with the example.
        example: A request for it.
        words: What people say who want it, folded and in the singular; German words too, for the
            list is what tells them how to say it.
    """

    text: str
    example: str
    words: frozenset[str]


def _ability(text: str, example: str, words: str) -> _Ability:
    known = frozenset(token for word in words.split() for token in tokens(word))
    return _Ability(f'- {text}: "{example}"', example, known)


_ON_ONE_TABLE = (
    "On a table of the workbench (csv, tsv, parquet, arrow, json, or a sheet of a workbook or an"
    " ods file) I can"
)
_OF_ONE_TABLE = (
    _ability(
        "put each value of a column on its own sheet, with a summary sheet of totals",
        "one sheet per Category with Date and Amount sorted by Date, and a summary sheet with"
        " totals",
        "sheet tab split divide separate summary pivot each per blatt tabellenblatt aufteilen",
    ),
    _ability(
        "total, average, count, minimum or maximum, of all rows or by columns, months, years",
        "total Amount by Category into sums.xlsx",
        "total sum average mean median count number minimum maximum min max highest lowest many"
        " much summarize summarise aggregate group pivot per percent percentage share top summe"
        " gesamt durchschnitt mittelwert anzahl pro je",
    ),
    _ability(
        "filter, sort and choose columns",
        "only rows where Amount > 100, sorted by Date descending, with Date and Amount",
        "filter only where show list find select choose column row keep sort order rank top bottom"
        " largest biggest smallest newest first last between delete remove drop filtern nur zeige"
        " sortiere sortieren spalte zeile",
    ),
    _ability(
        "convert it: to xlsx, csv, tsv or parquet, one sheet or every sheet",
        "convert every sheet of book.xlsx to csv",
        "convert export save turn transform change format excel csv tsv parquet json pdf ods"
        " konvertieren umwandeln wandle speichern",
    ),
    _ability(
        "remove duplicate rows, as a whole or by columns",
        "remove duplicates by Email, keep the last",
        "duplicate dedupe dedup deduplicate unique distinct repeated double twice doppelt doppelte"
        " duplikat",
    ),
)
_OF_FILES = (
    _ability("say what files hold", "what is in it?", "inside contents structure inhalt drin"),
    _ability(
        "merge tables with the same columns into one",
        "merge all csv files into all.xlsx with a source column",
        "merge combine join append concatenate stack union together lookup vlookup match compare"
        " zusammenführen verbinden",
    ),
    _ability(
        "write a report of what files hold (docx, md, txt, xlsx)",
        "profile these files as a Word report",
        "report profile describe overview statistic summarize summarise summary document quality"
        " inventory bericht übersicht",
    ),
    _ability(
        "replace a text by another one, in documents, decks, cells and texts",
        'replace "Acme Ltd" with "Beta Inc" in all Word documents',
        "replace rename change correct fix substitute edit document word deck text ersetzen ersetze"
        " umbenennen",
    ),
)

_ASKS = re.compile(
    r"\W*(?:(?:please|hello|hi)\W+)*(?:help(?:\s+me)?|hilfe|\?|abilities|capabilities|commands"
    r"|what\s+(?:all\s+)?(?:can|do|could)\s+(?:you|it|kbd)\s+(?:all\s+)?(?:do|understand)(?:\s+here)?"
    r"|(?:list|show)\s+(?:me\s+)?(?:all\s+)?(?:your\s+)?(?:abilities|capabilities|commands)"
    r"|was\s+kannst\s+du(?:\s+alles)?)\W*"
)


def asks_for_abilities(request: str) -> bool:
    """Tell whether a request asks for nothing but what can be done."""
    return _ASKS.fullmatch(fold(request)) is not None


def all_abilities() -> str:
    """Return all abilities as a list."""
    return "\n".join(
        [
            _ON_ONE_TABLE,
            *(one.text for one in _OF_ONE_TABLE),
            "On several files I can",
            *(one.text for one in _OF_FILES),
            "",
            "Say it with the names of columns.",
        ]
    )


def nearest_abilities(request: str) -> str:
    """Return the few abilities that a request's words speak of, and how to see all."""
    near = _nearest(request)
    if not near:
        return HOW_TO_SEE_ALL
    return "\n".join(["What comes near:", *(one.text for one in near), "", HOW_TO_SEE_ALL])


def nearest_examples(request: str) -> tuple[str, ...]:
    """Return a request for each of the few abilities that a request's words speak of."""
    return tuple(one.example for one in _nearest(request))


def _nearest(request: str) -> list[_Ability]:
    words = set(tokens(request))
    scored = [(len(words & one.words), one) for one in (*_OF_ONE_TABLE, *_OF_FILES)]
    # A stable sort: of those as near as others the first are the ones that people ask for most.
    near = sorted((one for one in scored if one[0]), key=lambda one: -one[0])[:MAX_NEAREST]
    return [ability for _, ability in near]
