"""Tokenizer: text becomes terms of the full-text index, a query a safe expression over them.

FTS5 is given terms that are made here, one blank between two, so its own tokenizer has nothing to
decide: it is `ascii`, for which every character beyond ASCII belongs to a word. What is indexed
then depends on no version of SQLite, and a query knows the terms it asks for as they stand in the
index.

A term is a word without its case, its marks and its endings (PyStemmer, the stemmers of Snowball);
a number without what groups its digits; what hyphens and the like join (`INV-2024-001`) is there as
a whole and in its parts. Scripts that put no blanks between words are cut into overlapping pairs of
characters.

Kept by hand, for no library does it better: splitting and folding. FTS5's `unicode61` parts
`INV-2024-001` without keeping the whole, and leaves a sentence of Chinese one word; its `trigram`
finds no word of two characters and none in another form; what cuts Chinese, Japanese or Thai into
words is a library with a dictionary for each. Marks are folded before stemming, so that
"organizacion" finds "organización"; stems of words with their marks, folded afterwards, found no
more in the questions of benchmarks/retrieval.py (nDCG@10 .631 both ways).

Stop words of nine European languages, words that say nothing of a text's subject, are lists of our
own, for no kept library serves better: with those of the package stop-words (1,333 for English,
"page" and "system" among them) words alone find a little less in the same questions (.628 for
.631). Nor does the index tell them by how often they stand there: in one that is mostly English,
the French "les" is rare.
"""

import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

import msgspec
import Stemmer

__all__ = [
    "COLUMNS",
    "FTS5_TOKENIZER",
    "QUERY_STOP_WORDS",
    "STOP_WORDS",
    "TOKENIZER_EDITION",
    "WEIGHTS",
    "Query",
    "index_terms",
    "parse_query",
    "snippet",
    "stem",
]


_STOP_WORDS = {
    "english": """
a about above after again against all also am an and any are as at be because been before being
below between both but by can could did do does doing down during each either else ever every few
for from further had has have having he her here hers him his how however i if in into is it its
itself just let many may me might more most much must my no nor not now of off often on once one
only or other our out over own per please s same see shall she should since so some such t tell than
that the their them then there therefore these they this those though through thus to too two under
until up upon us use used using very via was we well were what when where whether which while who
whom whose why will with within without would yes yet you your
""",
    "german": """
aber als alle allem allen aller alles am an auch auf aus bei beim bis bin da das dass daß dem den
denn der deren des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine
einem einen einer eines er es etwa für gegen hat haben hatte hatten hier ich ihm ihn ihnen ihr ihre
ihrem ihren ihrer im in indem ins ist ja jede jedem jeden jeder jedes kann kein keine keinem keinen
keiner können könnte man mehr mein mit muss müssen nach nicht noch nun nur ob oder ohne sehr sein
seine seinem seinen seiner seit sich sie sind so sowie soll sollen sollte über um und uns unser
unter vom von vor war waren warum was weil welche welcher welches wenn wer werden wie wieder wir
wird wo wurde wurden würde zu zum zur zwar zwischen
""",
    "french": """
à ai ainsi alors au aucun aussi autre autres aux avait avec avoir c ce ceci cela celle celui ces cet
cette ceux chaque comme comment d dans de depuis des donc dont du elle elles en encore entre est et
été être eu fait il ils j je jusque l la le les leur leurs lors lui m ma mais même mes moins mon n
ne ni nos notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi qu quand que
quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous sur ta te tous tout toute
toutes très un une vers vos votre vous y
""",
    "spanish": """
a al algo algunos ante antes aquel aquí así aunque bajo bien cada casi como con contra cual cuál
cuando cuándo de del desde donde dónde dos durante e el él ella ellas ellos en entre era es esa ese
eso esta está están estar este esto estos fue fueron ha había han hasta hay la las le les lo los más
me menos mi mientras muy nada ni no nos o otra otros para pero poco por porque pues que qué quien
quién se según ser si sí sido sin sobre son su sus también tan tanto te tiene todo todos tras tu un
una uno unos usted y ya
""",
    "portuguese": """
a à ao aos as até com como da das dele depois do dos e é ela ele eles em entre essa esse está estão
eu foi foram há isso isto já mais mas me mesmo muito na não nas nem no nos num numa o onde os ou
para pela pelo por porque quais qual quando que quê quem são se sem ser seu seus só sua suas também
tem têm um uma
""",
    "italian": """
a ad agli ai al alla alle allo anche ancora avere c ce che chi ci come con cosa cui d da dagli dai
dal dalla dalle degli dei del della delle dello di dopo dove e è ed era essere fra gli ha hanno i il
in io l la le lei li lo loro lui ma mi molto ne nei nel nella nelle no noi non nostro o ogni ora per
perché più può quale quali quando quella quelle quelli quello questa queste questi questo se sei si
sia solo sono sopra su sua sue sugli sui sul sulla suo tra tutti tutto un una uno vi voi
""",
    "dutch": """
aan al als ander bij dan dat de deze die dit doen door dus een en er ge geen had heb heeft het hier
hij hoe hun iets ik in is je kan maar me meer men met mijn moet na naar niet nog nu of om onder ons
ook op over te toch toen tot uit van veel voor waar waren waarom wanneer was wat we wel welk welke
werd wie wij wordt worden zal ze zich zij zijn zo zonder zou
""",
    "polish": """
a aby albo ale bez być był była były ci co czy dla do gdy gdzie go i ich ile im jak jaki jaka jakie
jako je jego jej jest jeszcze już każdy kiedy kto która które którego których który lub ma mają może
na nad nie nich nim niż o od on ona oni oraz po pod przed przez przy są się tak także tam te tego
tej ten to tych tylko tym u w we więc wszystko z za ze że
""",
    "russian": """
без был была были было быть в вам вас весь во вот все всё вы где да для до его её ей если есть ещё
же за здесь и из или им их к как ко когда который которая которые кто ли между меня мне может мы на
над надо не него нее нет но ну о об он она они оно от по под после при с со так также такой там то
того тоже только том ты у уже хотя чего чем что чтобы эта эти это этого этот я
""",
}
STOP_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _STOP_WORDS.items()
}
"""Words that bind others and say nothing of what a text is about, as they are written, by the name
that Snowball gives their language."""

_OF_QUERIES = """
a aber about above after again ai al all alla als am an and any are as at au auch auf aus aux avec
be because been before bei being between bin bis both but by c can ce ces che com como con contre
cosa could cual d da dans das dass de degli dei del della delle dem den der des di did die dies
diese dieser dieses do doch does doing dos down du during e each ein eine einem einen einer eines el
elle en entre er es est et etre eu fait few for from fur further gli ha had has hat hatte have
having he her here hers him his how i ich if ihr il ils im in into is ist it its itself ja je just
kann kein keine l la las le les leur lo los lui man mas me mein mi mit more most muss my n na nach
nao ne nel nicht no noch nor nos not nous nun nur o ob oder of off ohne on once only or os other ou
our out over own par para pas per perche please plus por pour q quais qual que quel quelle quels
quem qui quoi s sa same se sehr sein seine ser ses she should si sich sie sind so some sont sua such
sul sur t tell than that the their them then there these they this those through to too tres uber um
uma un una und under une uno uns unter until up very vom von vor vous war warum was we welche
welcher welches wenn wer werden were what when where which while who whom why wie will wir wird with
wo would wurde y you your zu zum zur
"""
QUERY_STOP_WORDS = frozenset(_OF_QUERIES.split())
"""Left out of a query, whatever its language, without marks. Fewer than `STOP_WORDS`: what binds in
one language may be what is asked for in another (all of those find less, .626 for .630)."""


TOKENIZER_EDITION = f"2 snowball {Stemmer.version()}"
"""Names what decides which terms a text is indexed as: an index of another edition is made anew.
The library's version is in it, for a new one may stem some words otherwise; the number goes up with
a change here."""

COLUMNS = ("title", "body")
"""The columns of the FTS5 table, in this order."""

FTS5_TOKENIZER = "ascii"
"""Its `tokenize` option."""

WEIGHTS = (1.0, 1.0)
"""What `bm25()` is given for its columns."""

MAX_QUERY_CHARACTERS = 4_000
"""So much of a query is looked at; nobody asks for more than a page."""

MAX_QUERY_WORDS = 48
"""So many different words of a query are looked for, the first ones."""

MAX_TERM_CHARACTERS = 64
"""Longer ones are cut: nobody types them, and they are no words."""

MAX_CACHED_STEMS = 1 << 16
"""So many stems of a language are remembered: some 8 MB."""

_SHORT = 2
"""Words of so many letters are left as they are."""

_LATIN_LANGUAGES = ("english", "german", "french", "spanish", "portuguese", "italian")
"""Those of texts in Latin letters; one in which no stop word stands is taken as English.

A query is asked for by the stems of them all, so each more makes finding the others a little worse:
with Dutch and Polish as well, words alone put the answer first for .920 of the exact questions of
benchmarks/retrieval.py, with these for .928.
"""

# But not the breve of й, a letter of its own by whose endings Russian is stemmed.
_MARK = re.compile("(?<![иИ])\u0306|[\u0300-\u0305\u0307-\u036f\u0591-\u05c7\u064b-\u065f]+")
_ASCII_BLANKS = {code: " " for code in range(128) if not chr(code).isalnum()}
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"}
)
_LETTER_MARK = re.compile("[øłđħıæœþð]")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_LETTER = f"(?:[^\\W_{_UNSPACED}]|[\u0900-\u0dff])"
_WORD = re.compile(f"(?>{_LETTER}+)")
# In two thirds of the time, where no vowel sign of India can be.
_PLAIN_WORD = re.compile(f"[^\\W_{_UNSPACED}]++")
_SIGN = re.compile("[\u0900-\u0dff]")
_FIRST_UNSPACED = _UNSPACED[0]
_RUN = re.compile(f"[{_UNSPACED}]++")
_SPOT = re.compile(f"(?>{_LETTER}+)|[{_UNSPACED}]")
# A hyphen at the end of a line may have cut a word in two.
_JOINED = re.compile(
    rf"\b(?>{_LETTER}+)(?>(?:(?:[-_./@:+\u2010\u2011]|-[ \t]?\n[ \t]?)(?>{_LETTER}+))+)"
)
_ASCII_JOINED = re.compile(_JOINED.pattern.replace(_LETTER, "[a-z0-9]"))
_JOINS = re.compile(r"[-_@\u2010\u2011\d]")
_NUMBER = re.compile(r"(?<![\w.,])\d++(?>(?:[.,]\d++)+)(?![\w]|[-_/:@]\w)")
_FRACTION = re.compile(r"\d[.,]\d")
# A zero in front groups nothing: 0.125 is a fraction.
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:([.,])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_QUOTED = re.compile('["\u201c\u201d\u201e\u00ab\u00bb]([^"\u201c\u201d\u201e\u00ab\u00bb]+)')


class Query(msgspec.Struct, frozen=True):
    """A parsed query.

    Args:
        match: The FTS5 expression, to be bound as a parameter; "" if nothing can be looked for.
        terms: The words asked for, each as the terms that stand for it in the index.
    """

    match: str
    terms: tuple[tuple[str, ...], ...]


def parse_query(text: str) -> Query:
    """Parse a query; any text at all is one.

    Words are joined by OR, words that only bind others are left out where any other is there,
    and quotations and joined words count once more as phrases.
    """
    text = text[:MAX_QUERY_CHARACTERS]
    # The last character of a run is in the pair before it.
    alone = {run for run in _RUN.findall(_fold(text)) if len(run) == 1}
    found = [token for token in _tokens(text) if not _is_single(token) or token in alone]
    meant = [token for token in found if token not in _QUERY_STOP_WORDS] or found
    terms = tuple(_possible_stems(token) for token in dict.fromkeys(meant))[:MAX_QUERY_WORDS]
    parts = [f'"{term}"' for term in dict.fromkeys(term for word in terms for term in word)]
    parts += dict.fromkeys(_phrases(text))
    # A single character of an unspaced script begins a pair of the index.
    parts += [f'"{word[0]}" *' for word in terms if _is_single(word[0])]
    return Query(" OR ".join(parts), terms)


def index_terms(title: str, text: str) -> tuple[str, str]:
    """Return the terms of a piece for the index: a value for each of `COLUMNS`.

    Args:
        title: What names the piece: its file's name, its place.
        text: The piece.
    """
    named, body = _tokens(_HUMPS.sub(" ", title)), _tokens(text)
    stemmed = _STEM_CACHES[_language(body)].__getitem__
    return " ".join(map(stemmed, named)), " ".join(map(stemmed, body))


def snippet(text: str, query: str, most_characters: int = 200) -> str:
    """Return the part of a piece that has most words of a query, as one line.

    Args:
        text: The piece.
        query: What was asked, as it was asked.
        most_characters: How long it may be, with the dots that stand for what is left out.
    """
    line = " ".join(text.split())
    if not line.isprintable():
        line = " ".join("".join(c if c.isprintable() else " " for c in line).split())
    if len(line) <= most_characters:
        return line
    room = max(most_characters - 4, 1)
    start = _best_start(line, parse_query(query), room)
    before = "… " if start else ""
    end = start + most_characters - len(before)
    if end >= len(line):
        return before + line[start:]
    end -= 2
    # Whole words, unless the only one is longer than the room.
    cut = line.rfind(" ", start + room // 2, end + 1)
    return before + line[start : cut if cut > 0 else end].rstrip() + " …"


def _best_start(line: str, query: Query, room: int) -> int:
    """Return where to begin: where most words asked for follow, the first such place."""
    asked = {term: at for at, word in enumerate(query.terms) for term in word}
    # A stem begins as its word does; most words of a text begin otherwise than those asked for.
    heads = {head for term in asked for head in (term[0], term[0].upper())}
    spots: list[tuple[int, int]] = []
    for match in _SPOT.finditer(line):
        if match[0][0] not in heads and match[0].isascii():
            continue
        is_run = match[0] >= _FIRST_UNSPACED and _RUN.match(match[0])
        pair = line[match.start() : match.start() + 2] if is_run else match[0]
        for term in _query_terms(pair):
            if term in asked:
                spots.append((match.start(), asked[term]))
                break
    most, best = 0, 0
    for first, (begin, _) in enumerate(spots):
        words = {known for at, known in spots[first:] if at < begin + room}
        if len(words) > most:
            most, best = len(words), begin
    # A little of what goes before is shown, and nothing is wasted at the end.
    start = min(best - room // 8, len(line) - room)
    return line.find(" ", start - 1, best) + 1 if start > 0 else 0


@lru_cache(maxsize=1 << 14)
def _query_terms(word: str) -> tuple[str, ...]:
    """Return the terms by which an index may have a word, or the character pair that begins one."""
    return tuple(term for token in _tokens(word) for term in _possible_stems(token))


def _fold(text: str) -> str:
    """Return text without case and marks, each character in its usual form."""
    if text.isascii():
        return text.lower()
    plain = _MARK.sub("", unicodedata.normalize("NFKD", text)).casefold()
    if _LETTER_MARK.search(plain):
        plain = plain.translate(_LETTERS)
    return unicodedata.normalize("NFC", plain)


def _tokens(text: str) -> list[str]:
    """Return the words of a text, not stemmed yet; what is joined follows after its parts."""
    folded = _fold(text)
    joined: list[str] = []
    if _JOINS.search(folded):
        # What the longer searches would find is seldom there, and soon seen.
        if _FRACTION.search(folded):
            folded = _NUMBER.sub(_normalize_number, folded)
        those = _ASCII_JOINED if folded.isascii() else _JOINED
        joined = [found for found in those.findall(folded) if _JOINS.search(found)]
    found = _words(folded)
    found += ["".join(_WORD.findall(each)) for each in joined]
    if not folded.isascii():
        found += [run[at : at + 2] for run in _RUN.findall(folded) for at in range(len(run))]
    return [token[:MAX_TERM_CHARACTERS] for token in found]


def _words(folded: str) -> list[str]:
    """Return what `_WORD` finds, the fastest way for the text."""
    if folded.isascii():
        return folded.translate(_ASCII_BLANKS).split()
    return (_WORD if _SIGN.search(folded) else _PLAIN_WORD).findall(folded)


def _normalize_number(match: re.Match[str]) -> str:
    """Return a number without what groups its digits: 12,500.00, 12.500,00 and 12500 are one."""
    text = match[0]
    whole, decimals = text, ""
    if _GROUPED.fullmatch(text):
        separator = next(c for c in text if c in ".,")
        last = max(text.rfind("."), text.rfind(","))
        if text[last] != separator:
            whole, decimals = text[:last], text[last + 1 :]
    elif text.count(".") + text.count(",") == 1:
        whole, decimals = re.split("[.,]", text)
    decimals = decimals.rstrip("0")
    # A letter holds both together: a point would part them into two words.
    return re.sub("[.,]", "", whole) + (f"d{decimals}" if decimals else "")


def _is_single(term: str) -> bool:
    return len(term) == 1 and _RUN.match(term) is not None


def _phrases(text: str) -> Iterator[str]:
    """Yield quotations and joined words as phrases of the index, as any language has them."""
    joined = [found for found in _JOINED.findall(_fold(text)) if _JOINS.search(found)]
    for phrase in (*_QUOTED.findall(text), *joined)[:MAX_QUERY_WORDS]:
        words = _WORD.findall(_NUMBER.sub(_normalize_number, _fold(phrase)))[:MAX_QUERY_WORDS]
        if len(words) > 1:
            for language in _LATIN_LANGUAGES:
                yield (
                    '"'
                    + " ".join(stem(word[:MAX_TERM_CHARACTERS], language) for word in words)
                    + '"'
                )


class _StemCache(dict[str, str]):
    """The stems of words of a language, each worked out when it is first asked for.

    A dict is asked in a quarter of the time that `lru_cache` takes, and in a tenth of the stemmer's
    own.

    Args:
        language: Whose stemmer is asked for words in Latin letters.
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        # 0: the library keeps no cache of its own beside this one.
        self._latin, self._cyrillic = Stemmer.Stemmer(language, 0), Stemmer.Stemmer("russian", 0)
        # The library allows one thread at a time in a stemmer: it works in a buffer of its own.
        self._lock = threading.Lock()

    def __missing__(self, word: str) -> str:
        if len(word) <= _SHORT or not word.isalpha():
            return word
        if len(self) >= MAX_CACHED_STEMS:
            self.clear()
        stemmer = self._cyrillic if _CYRILLIC.match(word) else self._latin
        with self._lock:
            found = self[word] = str(stemmer.stemWord(word))
        return found


_CYRILLIC = re.compile("[\u0400-\u04ff]")
_STEM_CACHES = {language: _StemCache(language) for language in _LATIN_LANGUAGES}
_FOLDED = {language: frozenset(map(_fold, STOP_WORDS[language])) for language in _LATIN_LANGUAGES}
_ALL_FOLDED = frozenset().union(*_FOLDED.values())
# Of those that no other language here writes, all.
_QUERY_STOP_WORDS = QUERY_STOP_WORDS.union(map(_fold, STOP_WORDS["russian"]))


def stem(word: str, language: str) -> str:
    """Return the stem of a word in the index's form: lower case, without marks or blanks.

    Words of Cyrillic letters are stemmed as Russian in any language; numbers, and words of scripts
    that its stemmer does not know, are their own stems.

    Args:
        word: The word, folded.
        language: One of `STOP_WORDS`, in Latin letters.
    """
    return _STEM_CACHES[language][word]


def _possible_stems(word: str) -> tuple[str, ...]:
    """Return the stems by which an index may have a word, in whatever language."""
    return tuple(dict.fromkeys(stem(word, language) for language in _LATIN_LANGUAGES))


def _language(words: list[str]) -> str:
    """Return the language whose stop words are the most among words; English if none are."""
    found = _ALL_FOLDED.intersection(words)
    # Of equals `max` returns the first, and English stands first.
    return max(_LATIN_LANGUAGES, key=lambda language: len(found & _FOLDED[language]))
