"""Text of a request, in which phrases and columns are recognized, and its vocabulary. Pure.

The vocabulary is what is refused by name, and what may stand in a request without meaning anything
more.

What a clause has understood is taken out (overwritten), so that the next clause does not read it
again and what nobody understood can be seen at the end.

Synonyms are other words for what columns hold: "spend" for an Amount, "client" for a Customer. A
column's own name, and a part of it, always go before a synonym. What words of a group say must also
fit the column: nobody spends a category, and a unit price is no amount spent.
"""

import re
from collections.abc import Collection, Sequence

import msgspec

from kbd_offline.intents import ColumnIntent, Function
from kbd_offline.names import fold, singular, split_suffix, tokens

__all__ = [
    "COLUMNS_LISTED",
    "CONVERTING",
    "DEDUPING",
    "FUNCTION_WORDS",
    "HARMLESS",
    "MERGING",
    "NUMERAL",
    "POLITE",
    "PROFILING",
    "QUOTED",
    "REFUSED",
    "REPLACING",
    "TAKEN",
    "Mention",
    "UnclearError",
    "Wording",
    "read_numeral",
    "synonymous",
]

# With "by" or "per" it asks for totals of groups, not for a summary of a text.
_A_DOCUMENT = (
    r"\bsummari[sz]e\b(?!.*\b(?:by|per|each|every)\b)"
    r"|\bsummary\s+of\s+(?:the|this|these|my)\s+(?:files?|documents?|texts?|reports?)\b"
)
_PROSE = (
    r"\b(?:draft|compose|rewrite|rephrase|proofread|essay|letter|e-?mail|memo|paragraph|article"
    r"|story|explain|describe|why|report\s+(?:on|about))\b"
)
_DOCUMENTS = r"\b(?:docx|word\s+(?:document|file)|documents?|slides?|presentation|pptx|pdf)\b"
_CHANGES = (
    r"\b(?:dedup\w*|duplicates?|merge|join|combine|rename|replace|delete|remove|fix|clean|correct"
    r"|fill|anonymi[sz]e)\b"
)
_SUMS = (
    r"\b(?:forecast|predict\w*|percent\w*|share|median|growth|cumulative|running|pivot|trend"
    r"|correlat\w+|compare|difference|ratio|currency|top|bottom)\b"
)
REFUSED = (
    ("translate", r"\btranslat\w+|\binto\s+(?:german|french|spanish|italian|english|chinese)\b"),
    ("summarise a document", _A_DOCUMENT),
    ("write prose", _PROSE),
    ("make or edit a document", _DOCUMENTS),
    ("draw charts", r"\b(?:charts?|graphs?|plots?|diagrams?|histograms?|visuali[sz]\w+)\b"),
    # `job_of` finds the jobs on duplicates, merges and texts before; what comes here with these
    # words is none of them.
    ("tell duplicates without removing them", r"\bduplicat\w*"),
    ("change the data itself", _CHANGES),
    ("work that out", _SUMS),
    ("style sheets as asked", r"\b(?:colou?r|highlight|conditional|formula|macro)\w*\b"),
)
"""Requests that are frequent and cannot be done by rules, each with the words that show it."""

_POLITE = """
a all also an and any are as at be been both by called can contain contains could data do does each
existing file files for from get give go has have hello here hi i in into is it its just kindly let
like make me my name named need new now of on one ones only or our out output please produce put
result results save so some table tables take thank thanks that the their them then there these
they this those to too us use using want was we were which will with within workbench would write
you your
"""
POLITE = frozenset(_POLITE.split())
"""Words that may be left over in any request; none that excepts or denies."""

_HARMLESS = """
a about add all an and another any are as at available based be below both break build but by
can change clear column columns complete containing contents convert copy could create csv data
did display divide do does down each end entire entries entry every everything excel export
fields figures file files filter filtered final first for format from full generate get give go
grand group grouped has have header headers headings how i in include including individual
information into is it its just keep line lines list lists make me my name need new nice nicely
of on one ones only or order ordered other our out output overall overview own paid please plus
produce put record records report result results row rows s same save select selected separate
separated sheet sheets show simple single sort sorted sorting spend spent split spreadsheet
spreadsheets subtotals summaries summary tab table tables tabs take tell that the their them
then there these this those to together too transaction transactions transform turn under up us
use using value values want was we well were what where which whole will with work workbook
workbooks worksheet worksheets would write xlsx you
tsv psv delimited parquet json jsonl ndjson ods opendocument arrow feather pipe
"""
HARMLESS = frozenset(_HARMLESS.split())
"""Words that may be left over in a request about one table."""

_CONVERTING = """
book books change convert converted copy create csv delimited different dump every excel export
extract individual individually its make own psv save separate separated separately sheet sheets
single split spreadsheet tab tabs text transform tsv turn values workbook worksheet worksheets xlsx
parquet ods opendocument pipe
"""
CONVERTING = POLITE | frozenset(_CONVERTING.split())
"""Words that may be left over in a request of the sheets of a workbook."""

_DEDUPING = """
clean column columns complete completely copy create csv dedup dedupe deduped dedupes deduplicate
deduplicated deduplication delete discard distinct double doubles drop duplicate duplicated
duplicates duplication eliminate entire entries entry equal every exact exactly excel export filter
first full fully how identical keep keeping leave line lines list many number occurrence occurrences
only out purge record records redundant remove removed removing repeated rid row rows same save say
sheet spreadsheet strip tell throw tsv unique up were whole without workbook xlsx
psv parquet json jsonl ndjson ods opendocument arrow feather
"""
DEDUPING = POLITE | frozenset(_DEDUPING.split())
"""Words that may be left over in a request to take out duplicates."""

_MERGING = """
adding another append appended below beneath big book books column columns combine combined
combining concat concatenate consolidate consolidated create csv different entries every everything
excel filled first five four header headers join joined large list lists merge merged merging order
other put record records row rows same separate sheet sheets single spreadsheet spreadsheets stack
stacked tab tabs three together tsv two under underneath union unite whole workbook workbooks
worksheet worksheets xlsx psv parquet json jsonl ndjson ods opendocument arrow feather
"""
MERGING = POLITE | frozenset(_MERGING.split())
"""Words that may be left over in a request to put tables together."""

_PROFILING = """
average averages blank blanks book books column columns complete containing content contents count
counts create csv data deck decks describe described describing description detailed distinct doc
docs document documents docx each empty every excel fields full generate heading headings how html
include including inventory kind kinds list listing many markdown max maximum md mean means min
minimum missing much names number numbers overview page pages pdf pdfs per plain powerpoint pptx
prepare presentation presentations profile profiles profiling quality quick range ranges report
reports row rows sheet sheets short show showing simple size sizes slides spreadsheet spreadsheets
statistics stats structure summaries summary tell text tsv txt type types unique value values what
word words workbook workbooks xlsx
"""
PROFILING = POLITE | frozenset(_PROFILING.split())
"""Words that may be left over in a request for a report on files."""

_REPLACING = """
across anywhere book books cell cells change changed content contents copy csv deck decks docs
document documents docx each every everything everywhere excel find instance instances keep match
matching new occur occurrence occurrences occurs paragraphs phrase powerpoint powerpoints pptx
presentation presentations replace replaced replacing sheet sheets slide slides spreadsheet
spreadsheets string substitute swap term text texts through throughout update updated version
versions where wherever word words workbook workbooks xlsx
"""
REPLACING = POLITE | frozenset(_REPLACING.split())
"""Words that may be left over in a request to replace a text."""


class _Group(msgspec.Struct, frozen=True):
    """Words that mean the same of a column, all in the singular.

    Args:
        words: They.
        is_number: Whether only a column of numbers can be meant.
        is_moment: Whether only a column of dates (without times) can be meant.
        never: Words that make another thing of a column that has one of them in its name.
    """

    words: frozenset[str]
    is_number: bool
    is_moment: bool
    never: frozenset[str]

    def fits(self, column: ColumnIntent) -> bool:
        """Tell whether a column may be meant by the group's words."""
        right_type = (not self.is_number or column.is_number) and (
            not self.is_moment or column.type == "date"
        )
        return right_type and not self.never & set(tokens(column.name))


# A customer id and a category code are no customer and no category.
_NO_THING = frozenset(("id", "no", "nr", "code", "number", "count", "type", "status", "date"))
_NO_SPENDING = _NO_THING | {
    "unit", "per", "tax", "rate", "discount", "category", "center", "centre", "list",
}  # fmt: skip


def _group(
    words: str,
    *,
    is_number: bool = False,
    is_moment: bool = False,
    never: frozenset[str] = _NO_THING,
) -> _Group:
    known = frozenset(words.split())
    # "Date" excludes a column from most groups, and is what one of them is about.
    return _Group(known, is_number, is_moment, never - known)


_AMOUNTS = "amount spend spending cost price expense expenditure betrag kosten preis montant"
_GROUPS = (
    _group(_AMOUNTS, is_number=True, never=_NO_SPENDING),
    _group("revenue turnover umsatz income", is_number=True),
    _group("quantity qty menge piece", is_number=True),
    _group("date day datum", is_moment=True),
    _group("customer client buyer kunde"),
    _group("supplier vendor merchant shop seller lieferant handler"),
    _group("category kind kategorie"),
    _group("description beschreibung"),
    _group("product item artikel produkt"),
    _group("country nation land"),
    _group("city town stadt"),
    _group("employee staff mitarbeiter"),
    _group("department division abteilung dept"),
    _group("phone telephone telefon tel"),
)
"""Plain everyday words; those in German where they can mean nothing else."""


def synonymous(
    word: str, columns: Sequence[ColumnIntent], *, as_whole: bool = False
) -> tuple[ColumnIntent, ...]:
    """Return the columns that a word means by another name; several may be meant as well.

    Those that are called so as a whole go before those that have it in their name.

    Args:
        word: Folded, in the singular.
        columns: Those that may be meant.
        as_whole: Whether only a whole name counts.
    """
    for group in _GROUPS:
        if word not in group.words:
            continue
        fitting = [column for column in columns if group.fits(column)]
        whole = [c for c in fitting if "".join(tokens(c.name)) in group.words]
        parts = [c for c in fitting if group.words & set(tokens(c.name)) and not as_whole]
        return tuple(whole or parts)
    return ()


FUNCTION_WORDS: dict[str, Function] = {
    "total": "total", "sum": "total", "subtotal": "total", "average": "average", "mean": "average",
    "avg": "average", "count": "count", "number": "count", "minimum": "minimum", "min": "minimum",
    "maximum": "maximum", "max": "maximum", "summarize": "total", "summarise": "total",
}  # fmt: skip

# An apostrophe within a word, as in "don't", opens and closes nothing: hence no letter may stand
# before the first sign, or behind a closing single quote.
QUOTED = (
    r"(?<![^\W_])(?:\"([^\"\n]*)\"|'([^'\n]*)'(?![^\W_])|“([^”\n]*)”|‘([^’\n]*)’"
    r"|„([^“”\n]*)[“”]|«([^»\n]*)»|`([^`\n]*)`)"
)
"""A text in quotes of any kind; the text itself is the one group that is there."""

TAKEN = "\x00"
"""Character in place of text that was consumed; neither a blank nor part of a word."""

_WORD = re.compile(r"[^\W_]+")
# Not a comma: that parts the columns of a list.
_GAP = re.compile(r"[\s\-_/()'\"%#&.]*\Z")
_MAX_NAME_WORDS = 8


COLUMNS_LISTED = " (the columns of "
"""How the list of a table's columns begins, at the end of why a request is declined."""


class UnclearError(Exception):
    """Unclear request: it has no reading, or more than one, as the message explains."""


class Mention(msgspec.Struct, frozen=True):
    """Columns that a place in the text may mean; more than one is two readings."""

    columns: tuple[ColumnIntent, ...]
    start: int
    end: int

    def only(self) -> ColumnIntent:
        """Return the column.

        Raises:
            UnclearError: More than one is meant.
        """
        if len(self.columns) > 1:
            names = " or ".join(f'"{column.name}"' for column in self.columns)
            raise UnclearError(f"it can be read in two ways: {names}; name the column in full")
        return self.columns[0]


class Wording:
    """The text of a request.

    Args:
        text: As the user wrote it.
        columns: The table's columns, as far as they are known.
        has_synonyms: Whether columns are also found by other words for them.

    Attributes:
        folded: The text in lower case without accents, what was taken being `TAKEN`;
            of the same length as the original.
    """

    def __init__(
        self, text: str, columns: Sequence[ColumnIntent] = (), *, has_synonyms: bool = True
    ) -> None:
        self.original = text
        self.folded = fold(text)
        self.columns = tuple(columns)
        self._by_meaning = self.columns if has_synonyms else ()
        # What stands in quotes and is the name of a column is that, whatever its words say.
        self._names = [
            (found.span(), named)
            for found in re.finditer(QUOTED, text)
            if (named := _named(found.group()[1:-1], columns))
        ]
        self._keys = [("".join(tokens(column.name)), column) for column in columns]

    def find(self, pattern: str, start: int = 0) -> re.Match[str] | None:
        """Return the first match of a pattern in what is left."""
        return re.compile(pattern).search(self.folded, start)

    def has(self, pattern: str) -> bool:
        """Tell whether a pattern is in what is left."""
        return self.find(pattern) is not None

    def is_quoted(self, place: int) -> bool:
        """Tell whether a place is within quotes around the whole name of a column."""
        return any(start <= place < end for (start, end), _ in self._names)

    def take(self, start: int, end: int) -> str:
        """Take a stretch out and return it as the user wrote it."""
        self.folded = self.folded[:start] + TAKEN * (end - start) + self.folded[end:]
        return self.original[start:end]

    def column_at(self, start: int, *, exact: bool = False) -> Mention | None:
        """Return the column whose name begins at a place, blanks and quotes before it left aside.

        The longest name wins, a whole name wins over a part of one ("date" for "Order Date"), and
        both win over another word for it ("spend" for "Amount").

        Args:
            start: Where to look.
            exact: Whether a part of a name does not count.
        """
        quoted = self._quoted_at(start)
        if quoted is not None:
            return quoted
        words = self._words(start)
        best: Mention | None = None
        key = ""
        for word in words:
            # Without blanks between them, "order date" is OrderDate as well as order_date.
            key += singular(word.group())
            same = tuple(column for known, column in self._keys if known == key)
            if same:
                best = self._mention(same, words[0].start(), word.end())
        if best is None and words and not exact:
            first = singular(words[0].group())
            parts = tuple(column for column in self.columns if first in tokens(column.name))
            # "Total" asks for a figure, although a column may be called "Total Price".
            if parts and first not in FUNCTION_WORDS:
                best = self._mention(parts, words[0].start(), words[0].end())
        if best is None and words:
            others = synonymous(singular(words[0].group()), self._by_meaning, as_whole=exact)
            if others:
                best = Mention(others, words[0].start(), words[0].end())
        return best

    def mentions(self) -> list[Mention]:
        """Return where columns are named in what is left, in order."""
        found: list[Mention] = []
        for word in _WORD.finditer(self.folded):
            if found and word.start() < found[-1].end:
                continue
            mention = self.column_at(word.start())
            if mention:
                found.append(mention)
        return found

    def word_at(self, start: int) -> re.Match[str] | None:
        """Return the word that begins at a place, blanks and quotes before it left aside."""
        words = self._words(start)
        return words[0] if words else None

    def check_rest(self, harmless: Collection[str], paths: Sequence[str] = ()) -> None:
        """Check that no word is left that no clause has taken and that may matter.

        Args:
            harmless: Words that do not.
            paths: Files that are spoken of, perhaps by what a name says that it holds ("the films"
                of film_list.csv); only in the plural, for "open" may say which orders are meant.

        Raises:
            UnclearError: There is one; it is named.
        """
        things = {word for path in paths for word in tokens(split_suffix(path)[0])}
        for word in _WORD.finditer(self.folded):
            one = singular(word.group())
            if word.group() not in harmless and (one == word.group() or one not in things):
                word_text = self.original[word.start() : word.end()]
                raise UnclearError(f'I do not know what to make of "{word_text}" here')

    def _quoted_at(self, start: int) -> Mention | None:
        """Return the name in quotes that begins at a place, or whose first word does."""
        for (first, end), columns in self._names:
            if self.folded[first + 1] == TAKEN:
                continue
            between = self.original[min(first, start) : max(first, start)]
            begins = not between.strip() if start <= first else not _WORD.search(between)
            if begins and start < end - 1:
                return Mention(columns, first + 1, end - 1)
        return None

    def _words(self, start: int) -> list[re.Match[str]]:
        """Return the words from a place on, as long as they may belong to one name."""
        words: list[re.Match[str]] = []
        for word in _WORD.finditer(self.folded, start):
            if not _GAP.match(self.folded[start : word.start()]) or len(words) == _MAX_NAME_WORDS:
                break
            words.append(word)
            start = word.end()
        return words

    def _mention(self, columns: tuple[ColumnIntent, ...], start: int, end: int) -> Mention:
        """Return a mention, to the end of the name where signs follow its words ("Price (€)")."""
        ends = {column: self._end_of(column.name, start) for column in columns}
        spelt = tuple(column for column, whole in ends.items() if whole)
        # Of columns that differ in case alone, the one that is spelt to the letter is meant.
        same = tuple(c for c in spelt if self.original[start : ends[c]].startswith(c.name))
        return Mention(same or columns, start, max([end, *(ends[column] for column in spelt)]))

    def _end_of(self, name: str, start: int) -> int:
        """Return where a name that stands here in full ends, or 0."""
        first = _WORD.search(name)
        # The name may begin with signs, which stand before its first word.
        begin = start - first.start() if first else start
        stands = begin >= 0 and fold(self.original[begin : begin + len(name)]) == fold(name)
        return begin + len(name) if stands else 0


def _named(text: str, columns: Sequence[ColumnIntent]) -> tuple[ColumnIntent, ...]:
    """Return the columns with a name; of those that differ in case alone the one that is spelt."""
    alike = tuple(column for column in columns if fold(column.name) == fold(text))
    return tuple(column for column in alike if column.name == text) or alike


NUMERAL = re.compile(r"\s*[€$£]?\s*([-+]?\d+(?:[.,]\d+)*)(?![.,]?\w|-)\s*[€$£]?")
"""A number with its sign of a currency; "10k" and "2024-01" are none."""

# With either decimal mark, the other one between thousands.
_MARKED = {
    ".": re.compile(r"[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?"),
    ",": re.compile(r"[-+]?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d+)?"),
}
_OTHER = {".": ",", ",": "."}


def read_numeral(text: str, column: ColumnIntent) -> str:
    """Return a number that a column is compared with as SQL has it: a sign, digits and a point.

    Requests are English, files need not be. Where both marks give a number and nothing says which
    is meant, that is a question: "1.500" is one and a half or fifteen hundred.

    Raises:
        UnclearError: It has two readings, or none.
    """
    found = {
        mark: text.replace(_OTHER[mark], "").replace(mark, ".")
        for mark, pattern in _MARKED.items()
        if pattern.fullmatch(text)
    }
    if len(set(found.values())) > 1:
        # A point before three digits is a decimal one only where the file has such.
        if column.decimal == "," or ("," not in text and column.decimal != "."):
            # Without zeros behind the point, for as it stands it would be asked about again.
            either = " or ".join(_shortest(value) for value in found.values())
            raise UnclearError(f'"{column.name}" is compared with {text}: say {either}')
        return found["."]
    # "1,5" may be two numbers where the file has no decimal commas.
    if found and ("." in found or "." in text or column.decimal == ","):
        return next(iter(found.values()))
    raise UnclearError(f'"{column.name}" is compared with {text}, which may be one number or two')


def _shortest(value: str) -> str:
    return value.rstrip("0").rstrip(".") if "." in value else value
