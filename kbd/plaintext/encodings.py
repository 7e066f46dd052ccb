"""Encoding of plain text files: detection, and streaming by lines.

For format plugins. A byte order mark decides, then zeros that only wide characters have, then that
bytes are valid UTF-8. What is left is judged by its words, see `candidates`. Where another encoding
gives other letters and is nearly as likely, the reader is told, with a word of each: no letter is
guessed in silence. Nothing here holds more than a block of a file in memory.
"""

import codecs
import io
import math
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import IO

import msgspec
from charset_normalizer import from_bytes

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.lookalikes import mark_hidden
from kbd.plaintext.candidates import CODECS, RankedEncoding, is_usual, ranked, utf8_cost
from kbd.plaintext.likelihood import IDEOGRAPHIC, is_letter, tokens_of
from kbd.plaintext.signs import SIGN_CODECS, are_signs
from kbd.plaintext.wide import wide_codec

__all__ = [
    "BLOCK_BYTES",
    "LOW_CONFIDENCE",
    "Encoding",
    "RivalEncoding",
    "bounded_lines",
    "detect",
    "errors_of",
    "open_text",
    "said_encoding",
]

BLOCK_BYTES = 1 << 20
"""How much of a file is read at a time."""

LOW_CONFIDENCE = 0.7
"""Below this an encoding is no better than its rival: a person had better be asked."""

RIVAL_MARGIN = 7.0
"""An encoding that is less likely by a factor below e to this is told to the reader.

This and the two below are measured on generated files of 31 languages: with them none of 14,000 was
read wrongly without a warning.
"""

_FEW_WORDS_MARGIN = 8.0
"""How much more it has to be for a single word, and half of it for two: words may be odd."""

_ONE_LETTER_MARGIN = 6.0
"""How much more where one letter alone is another one, and half of it for two."""

_SIGNS_MARGIN = 5.0
"""How much less likely it must be where there are signs alone, such as quotes and a euro."""

_CHANCE_MARGIN = 2.0
"""How much likelier a few bytes of valid UTF-8 must be as such, by their letters alone."""

_OFTEN_LETTERS = "\xa0…„"
"""Signs that stand in the places of the commonest letters of other encodings."""

_SIGNS_CONFIDENCE = 0.75
"""Of signs alone: enough not to ask, and what else they may be is a warning."""

_MOST_RIVALS = 3
_MARGIN_UNIT = 2.0
"""Words of a text are not independent, so that margins are worth less than they say."""

_SAMPLE_BYTES = 48 * 1024
"""How much text with non-ASCII bytes is judged; more makes it slower, not better."""

_HEAD_BYTES = 8192
_SURELY_WIDE_BYTES = 64
_MAX_WORD_CHARS = 30
_FEW_CHARACTERS = 8
"""So few characters of two bytes may be valid UTF-8 by chance."""

_BOMS = (
    # UTF-32 first: its little-endian mark begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HIGH = re.compile(rb"[\x80-\xff]")
_UTF8_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_ASCII = bytes(range(128))
_NEVER_TRAILING = re.compile(rb".*[\x00-\x2f]", re.DOTALL)
"""Up to a byte that is a character of its own in every encoding."""

_LINES_OF_A_BYTE = 4
"""How many lines more are judged for a byte that turns up behind the sample."""

_MOST_ODD = 0.34
"""How many words may be of no language, as a share; names from elsewhere are in most lists."""

_CONTROL = re.compile("[\x80-\x9f]")
_NOT_ASCII = re.compile("[^\x00-\x7f]")
_TITLES = {"cp932": "Shift-JIS", "euc_jp": "EUC-JP", "gb18030": "GB18030", "big5": "Big5"}

_NO_TEXT = frozenset(("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"))
"""Codecs of Python for strings, not for files."""


class RivalEncoding(msgspec.Struct, frozen=True):
    """An encoding that a text may be in as well.

    Args:
        name: A codec of Python.
        word: A word of the text as the encoding that was chosen gives it.
        instead: The same bytes as this encoding gives them.
    """

    name: str
    word: str
    instead: str


class Encoding(msgspec.Struct, frozen=True):
    """Encoding of a file's text.

    Args:
        name: A codec of Python; "utf-8-sig", "utf-16" and "utf-32" drop the byte order mark.
        confidence: 0 to 1.
        warnings: What the reader must know about the guess.
        repairs: Whether stray bytes inside UTF-8 are read as cp1252, so that nothing is lost.
        reason: What it was told by, in a few words.
        rivals: Encodings that are nearly as likely and give other letters, the likeliest first.
    """

    name: str
    confidence: float
    warnings: tuple[str, ...] = ()
    repairs: bool = False
    reason: str = ""
    rivals: tuple[RivalEncoding, ...] = ()


def _read_stray_bytes(error: UnicodeError) -> tuple[str, int]:
    """Decode bytes that are not UTF-8 as cp1252, or latin-1 where that has no character."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    stray = error.object[error.start : error.end]
    try:
        return stray.decode("cp1252"), error.end
    except UnicodeDecodeError:
        return stray.decode("latin-1"), error.end


codecs.register_error("kbd-stray-bytes", _read_stray_bytes)


def detect(path: Path, said: str | None = None) -> Encoding:
    """Detect the encoding of a file; all of it is read, block by block.

    Args:
        path: The file.
        said: The encoding as a person or a rule named it. It is taken as it is; what does not fit
            it is told by a warning.

    Raises:
        FileReadFailed: The file cannot be opened.
        ValidationFailed: There is no encoding of the name that was said.
    """
    asked = None if said is None else said_encoding(said)
    try:
        with path.open("rb") as file:
            if asked is not None:
                return _fitted(file, _marked(file, asked))
            return _detected(file)
    except OSError as error:
        raise FileReadFailed("the file cannot be opened") from error


def said_encoding(name: str) -> Encoding:
    """Return the encoding that a person or a rule named.

    Raises:
        ValidationFailed: There is none of this name; the text has those that are spelt alike.
    """
    plain = name.strip()
    try:
        found = codecs.lookup(plain)
        # Codecs of bytes, such as base64, are refused by `str.encode`, others by what they are.
        is_text = found.name not in _NO_TEXT and isinstance("".encode(found.name), bytes)
    except (LookupError, ValueError):
        is_text, found = False, None
    if found is None or not is_text:
        near = get_close_matches(plain.casefold()[:40], _SPELLINGS, n=3, cutoff=0.6)
        names = list(dict.fromkeys(_SPELLINGS[each] for each in near))
        hint = f"did you mean {' or '.join(names)}?" if names else "utf-8 and cp1252 are two"
        msg = f"there is no encoding called {mark_hidden(plain[:40])!r}; {hint}"
        raise ValidationFailed(msg, detail={"near": names})
    return Encoding(_OWN_NAMES.get(found.name, found.name), 1.0, reason="said")


def errors_of(encoding: Encoding) -> str:
    """Return what a decoder does with bytes that the encoding has no character for."""
    return "kbd-stray-bytes" if encoding.repairs else "replace"


def open_text(path: Path, encoding: Encoding, *, newline: str | None = None) -> io.TextIOWrapper:
    """Open a file as text; with `newline=""` line ends stay as they are.

    Bytes that the encoding has no character for become U+FFFD. Raises FileReadFailed.
    """
    errors = errors_of(encoding)
    try:
        return path.open("r", encoding=encoding.name, errors=errors, newline=newline)
    except OSError as error:
        raise FileReadFailed("the file cannot be opened") from error


def bounded_lines(file: io.TextIOWrapper, limit: int) -> Iterator[tuple[str, bool]]:
    """Yield a text's lines in pieces of at most `limit` characters.

    Each piece comes with whether it ends its line, so that one endless line fills no memory.
    """
    pending = ""
    while piece := file.readline(limit):
        if pending:
            yield pending, False
        pending = piece
        if piece.endswith(("\n", "\r")):
            yield piece, True
            pending = ""
    if pending:
        yield pending, True


_ALSO = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "shift_jis", "gbk")
_OWN_NAMES = {codecs.lookup(name).name: name for name in CODECS}
"""Detection's names of codecs by Python's, where these differ ("latin-1" is "iso8859-1")."""

_SPELLINGS = {
    **{name: name for name in (*CODECS, *_ALSO)},
    **{name.replace("cp", "windows-"): name for name in CODECS if name.startswith("cp12")},
    **{name.replace("8859", "-8859"): name for name in CODECS if name.startswith("iso")},
    "ansi": "cp1252", "western": "cp1252", "windows": "cp1252", "ascii": "utf-8",
    "unicode": "utf-16", "macintosh": "mac_roman", "dos": "cp850", "oem": "cp850",
    "shift-jis": "cp932", "sjis": "cp932", "euc-jp": "euc_jp", "euc-kr": "cp949",
}  # fmt: skip
"""What encodings are called, and the codec that is meant."""


def _marked(file: IO[bytes], asked: Encoding) -> Encoding:
    """Return what was said, but so that a byte order mark is no character of the text."""
    head = file.read(_HEAD_BYTES)
    for mark, name in _BOMS:
        if head.startswith(mark) and name.startswith(asked.name.removesuffix("-le")[:6]):
            return msgspec.structs.replace(asked, name=name)
    if asked.name in ("utf-16", "utf-32") and not head.startswith(tuple(m for m, _ in _BOMS)):
        found = wide_codec(head)
        is_found = found is not None and found.startswith(asked.name)
        return msgspec.structs.replace(asked, name=found if is_found else f"{asked.name}-le")
    marks = [name for mark, name in _BOMS if head.startswith(mark)]
    if marks and not asked.name.startswith("utf-"):
        warning = (
            f"The file begins with the byte order mark of {marks[0]}, not as {asked.name} does."
        )
        return msgspec.structs.replace(asked, warnings=(warning,))
    return asked


def _fitted(file: IO[bytes], encoding: Encoding) -> Encoding:
    """Return an encoding with a warning that counts what in the file is not in it, if anything."""
    count = _misfits(file, encoding.name)
    if not count:
        return encoding
    places = "1 place is" if count == 1 else f"{count:,} places are"
    if encoding.name in ("utf-8", "utf-8-sig"):
        text = f"{places} not valid UTF-8; stray bytes were read as cp1252."
        confidence = min(encoding.confidence, 0.9)
        return msgspec.structs.replace(
            encoding, confidence=confidence, warnings=(*encoding.warnings, text), repairs=True
        )
    text = f"{places} not valid {encoding.name}; what stands there is shown as \ufffd."
    return msgspec.structs.replace(encoding, warnings=(*encoding.warnings, text))


def _misfits(file: IO[bytes], codec: str) -> int:
    """Count the places of a file that a codec cannot read, up to its end."""
    if codec in ("utf-8", "utf-8-sig") and _utf8_start(file) is not None:
        return 0
    count = 0
    # A sign that stands for what cannot be read may be in the text, too: it is there both times.
    for errors, sign in (("replace", 1), ("ignore", -1)):
        decoder = codecs.getincrementaldecoder(codec)(errors)
        file.seek(0)
        while block := file.read(BLOCK_BYTES):
            count += sign * decoder.decode(block).count("\ufffd")
        count += sign * decoder.decode(b"", final=True).count("\ufffd")
        if not count:
            break
    return count


def _detected(file: IO[bytes]) -> Encoding:
    head = file.read(_HEAD_BYTES)
    for mark, name in _BOMS:
        if head.startswith(mark):
            return _fitted(file, Encoding(name, 1.0, reason="byte order mark"))
    # Before UTF-8 is tried: ASCII letters in UTF-16 are valid UTF-8, too, with zeros between.
    if wide := wide_codec(head):
        reason = f"zeros or pages in every other byte, as {wide} has them"
        if len(head) >= _SURELY_WIDE_BYTES:
            return _fitted(file, Encoding(wide, 0.95, reason=reason))
        warning = f"There is no byte order mark; the text was read as {wide}."
        return _fitted(file, Encoding(wide, 0.8, (warning,), reason=reason))
    start = _utf8_start(file)
    if start is not None and (not start or len(start) > _FEW_CHARACTERS or is_usual(start)):
        return Encoding("utf-8", 1.0, reason="valid UTF-8" if start else "ASCII")
    file.seek(0)
    sample, present = _sample(file)
    if start is not None:
        return _by_chance(sample, present)
    found = _judged(sample, present)
    is_whole = len(present.decode(found.name, "ignore")) == len(present)
    if found.repairs or found.name in IDEOGRAPHIC or not is_whole:
        return _fitted(file, found)
    return found


def _utf8_start(file: IO[bytes]) -> str | None:
    """Return a file's first characters beyond ASCII, at most 9, or None if it is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    start = ""
    file.seek(0)
    try:
        while block := file.read(BLOCK_BYTES):
            # ASCII is most of most files and needs no decoding.
            if not block.isascii() or decoder.getstate()[0]:
                text = decoder.decode(block)
                if len(start) <= _FEW_CHARACTERS:
                    start += "".join(_NOT_ASCII.findall(text, 0, 1 << 16))[: _FEW_CHARACTERS + 1]
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return None
    return start


def _sample(file: IO[bytes]) -> tuple[bytes, bytes]:
    """Collect lines that hold non-ASCII bytes, and all those bytes: they tell encodings apart."""
    found: list[bytes] = []
    present: set[int] = set()
    size = 0
    while size < _SAMPLE_BYTES and (line := file.readline(BLOCK_BYTES)):
        if not line.isascii():
            found.append(_around(line))
            size += len(found[-1])
            present.update(found[-1].translate(None, _ASCII))
            if len(line) > len(found[-1]):
                found += _fresh(line, present)
    # The rest counts where it has what was not seen: one byte may decide.
    while block := file.read(BLOCK_BYTES):
        found += _fresh(block, present)
    return b"".join(found), bytes(sorted(present))


def _fresh(block: bytes, present: set[int]) -> list[bytes]:
    """Return some lines for each byte that is not present yet; then it is."""
    fresh = sorted(set(block.translate(None, _ASCII + bytes(present))))
    present.update(fresh)
    return [line for byte in fresh for line in _lines_with(block, byte)]


def _around(line: bytes) -> bytes:
    """Return a piece of a line with its first non-ASCII byte: a line may be the whole file."""
    first = _HIGH.search(line)
    start = max(0, (first.start() if first else 0) - 2048)
    piece = line[start : start + 8192]
    if len(piece) < 8192:
        return piece
    whole = _NEVER_TRAILING.match(piece)
    return whole[0] if whole else piece


def _lines_with(block: bytes, byte: int) -> Iterator[bytes]:
    """Yield the first lines of a block that have a byte, each cut to what stands beside it."""
    place = -1
    for _ in range(_LINES_OF_A_BYTE):
        place = block.find(byte, place + 1)
        if place < 0:
            return
        start = max(block.rfind(b"\n", 0, place) + 1, place - 512)
        end = block.find(b"\n", place)
        yield block[start : min(end if end >= 0 else len(block), place + 512)] + b"\n"
        if end < 0:
            return
        place = end


def _by_chance(sample: bytes, present: bytes) -> Encoding:
    """Judge a few bytes that are valid UTF-8, but letters of no language that is known here."""
    best = ranked(sample, present)[0]
    found = Encoding("utf-8", 1.0, reason="valid UTF-8")
    # That bytes are valid UTF-8 is chance seldom enough: it needs no more than to be as likely.
    if best.odd_tokens or utf8_cost(sample) + _CHANCE_MARGIN < best.cost:
        return found
    words = "\n".join(token.text for token in tokens_of(sample.decode("utf-8", "replace")))
    rivals = _rivals(words, "utf-8", [best.name])
    return msgspec.structs.replace(
        found, confidence=0.6, warnings=(_told("utf-8", rivals, words),), rivals=rivals
    )


def _judged(sample: bytes, present: bytes) -> Encoding:
    high = len(_HIGH.findall(sample))
    valid = sum(len(sequence) for sequence in _UTF8_SEQUENCE.findall(sample))
    # Mostly UTF-8: to read all of it in an old code page would spoil every accent for a few.
    if valid >= 0.8 * high:
        return Encoding("utf-8", 0.5, repairs=True, reason="mostly valid UTF-8")
    found = ranked(sample, present)
    page = _page_of_signs(sample, found[0].name)
    best, *others = sorted(found, key=lambda each: each.name != page)
    # What cannot read some byte is no rival to what can.
    lost = _unread(present, best)
    others = [each for each in others if _unread(present, each) <= lost]
    near = [each for each in others if each.cost - best.cost < _margin(best, each, present)]
    is_odd = best.odd_tokens > _MOST_ODD * len(best.tokens)
    margins = (min(each.cost - best.cost, 100.0) for each in others)
    confidence = 1 / (1 + sum(math.exp(-margin / _MARGIN_UNIT) for margin in margins))
    confidence = round(min(confidence, 0.4 if is_odd else 0.98), 2)
    reason = "no language's letters" if is_odd else _reason(best)
    if best.name == page:
        confidence, reason = max(confidence, _SIGNS_CONFIDENCE), f"signs beside figures in {page}"
    words = "\n".join(token.text for token in best.tokens)
    rivals = _rivals(words, best.name, [each.name for each in near[:_MOST_RIVALS]])
    if is_odd and not rivals:
        rivals = _rivals(words, best.name, _other_voice(sample))
    warnings = [_told(best.name, rivals, words)] if is_odd or near else []
    if best.name not in IDEOGRAPHIC and _CONTROL.search(present.decode(best.name, "ignore")):
        warnings.append(f"Some bytes are no text in {best.name}; they are kept as they are.")
    return Encoding(best.name, confidence, tuple(warnings), reason=reason, rivals=rivals)


def _page_of_signs(sample: bytes, likeliest: str) -> str | None:
    """Return the encoding in which all that is not ASCII is a sign in its place; None if none is.

    Of the rarer ones only against ideographs, of which a file has more than one.
    """
    for name in SIGN_CODECS:
        is_free = name == SIGN_CODECS[0] or likeliest in IDEOGRAPHIC
        if is_free and are_signs(sample.decode(name, "replace")):
            return name
    return None


def _margin(best: RankedEncoding, other: RankedEncoding, present: bytes) -> float:
    """Return by how much an encoding must be less likely not to be told of.

    A few words may be odd ones, and a single letter may be odd in all its words.
    """
    if not any(_has_letters(token.text) for token in best.tokens):
        return _SIGNS_MARGIN
    letters = 0
    if best.name not in IDEOGRAPHIC and other.name not in IDEOGRAPHIC:
        one, two = (present.decode(each.name, "replace") for each in (best, other))
        letters = sum(a != b for a, b in zip(one, two, strict=True))
    return (
        RIVAL_MARGIN
        + _FEW_WORDS_MARGIN / max(1, len(best.tokens))
        + (_ONE_LETTER_MARGIN / letters if letters else 0)
    )


def _has_letters(text: str) -> bool:
    """Tell whether a token has letters beyond ASCII, or signs that often stand for such."""
    return text.endswith("’") or any(
        not one.isascii() and (is_letter(one) or one in _OFTEN_LETTERS) for one in text
    )


def _unread(present: bytes, found: RankedEncoding) -> int:
    return 0 if found.name in IDEOGRAPHIC else present.decode(found.name, "replace").count("\ufffd")


def _reason(found: RankedEncoding) -> str:
    if found.name in IDEOGRAPHIC:
        return f"{found.language} text in valid {_TITLES.get(found.name, found.name)}"
    return f"the letters of {found.language} in {found.name}"


def _other_voice(sample: bytes) -> list[str]:
    """Return what charset-normalizer takes a text for that is in no encoding known here."""
    match = from_bytes(sample, enable_fallback=False).best()
    return [] if match is None else [match.encoding]


def _rivals(words: str, name: str, others: list[str]) -> tuple[RivalEncoding, ...]:
    """Return encodings with the word of a text that each gives differently, one for all if any."""
    given = {
        word: [word.encode(name, "replace").decode(other, "replace") for other in others]
        for word in words.splitlines()
    }
    telling = sorted(given, key=lambda word: given[word].count(word))
    found = []
    for place, other in enumerate(others):
        word = next((each for each in telling if given[each][place] != each), None)
        if word is not None:
            found.append(RivalEncoding(other, _shown(word), _shown(given[word][place])))
    return tuple(found)


def _shown(word: str) -> str:
    return mark_hidden(word[:_MAX_WORD_CHARS])


def _told(name: str, rivals: tuple[RivalEncoding, ...], words: str = "") -> str:
    """Return a guess as a sentence: what was read, and what else it might be."""
    if not rivals:
        word = _shown(words.partition("\n")[0])
        return f"The encoding is a guess: read as {name}: {word}; letters may be wrong."
    first = rivals[0].word
    others = "; ".join(
        f"as {each.name} {'it' if each.word == first else each.word} would be {each.instead}"
        for each in rivals
    )
    return f"The encoding is a guess: read as {name}: {first}; {others}."
