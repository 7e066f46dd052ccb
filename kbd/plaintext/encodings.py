"""Encoding of plain text files: detection, and streaming by lines.

For format plugins. A byte order mark decides; else bytes that are valid UTF-8 are UTF-8; else an
answer of charset-normalizer is believed where western text cannot be meant, and what is left is
cp1252 or latin-1. A low confidence is told to the reader, never hidden. Nothing here holds more
than a block of a file in memory.
"""

import codecs
import io
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from charset_normalizer import from_bytes
from charset_normalizer.models import CharsetMatch

from kbd.errors import FileReadFailed

__all__ = [
    "BLOCK_BYTES",
    "LOW_CONFIDENCE",
    "Encoding",
    "bounded_lines",
    "detect",
    "errors_of",
    "open_text",
]

BLOCK_BYTES = 1 << 20
"""How much of a file is read at a time."""

LOW_CONFIDENCE = 0.7
"""Below this the encoding is a guess that the reader is warned about."""

_SAMPLE_BYTES = 48 * 1024
"""How much text with non-ASCII bytes the guess looks at; more makes it slower, not better."""

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
_CP1252_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_LONG_HIGH_RUN = re.compile(rb"[\x80-\xff]{3,}")
_WESTERN = frozenset(
    ("English", "French", "German", "Spanish", "Italian", "Portuguese", "Dutch", "Swedish")
) | {"Danish", "Norwegian", "Finnish", "Icelandic", "Catalan", "Irish", "Unknown"}
_MULTIBYTE = frozenset(
    ("big5", "big5hkscs", "cp932", "cp949", "cp950", "euc_jis_2004", "euc_jisx0213", "euc_jp")
) | {"euc_kr", "gb18030", "gb2312", "gbk", "hz", "johab", "shift_jis", "shift_jis_2004"}
_ENOUGH_HIGH_BYTES = 8
"""Fewer non-ASCII bytes than this say nothing about a script."""


class Encoding(msgspec.Struct, frozen=True):
    """Encoding of a file's text.

    Args:
        name: A codec of Python; "utf-8-sig", "utf-16" and "utf-32" drop the byte order mark.
        confidence: 0 to 1.
        warnings: What the reader must know about the guess.
        repairs: Whether stray bytes inside UTF-8 are read as cp1252, so that nothing is lost.
    """

    name: str
    confidence: float
    warnings: tuple[str, ...] = ()
    repairs: bool = False


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


def detect(path: Path) -> Encoding:
    """Detect the encoding of a file; all of it is read, block by block.

    Raises:
        FileReadFailed: The file cannot be opened.
    """
    try:
        with path.open("rb") as file:
            head = file.read(4096)
            # Before UTF-8 is tried: ASCII letters in UTF-16 are valid UTF-8, too, with zeros
            # between.
            marked = _from_mark(head) or _from_zero_bytes(head)
            if marked is not None:
                return marked
            file.seek(0)
            if _is_utf8(file):
                return Encoding("utf-8", 1.0)
            file.seek(0)
            sample = _sample(file)
    except OSError as error:
        raise FileReadFailed("the file cannot be opened") from error
    return _guess(sample)


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


def _from_mark(head: bytes) -> Encoding | None:
    for mark, name in _BOMS:
        if head.startswith(mark):
            return Encoding(name, 1.0)
    return None


def _from_zero_bytes(head: bytes) -> Encoding | None:
    """Recognise UTF-16 without a mark: text in it has a zero in every other byte."""
    pairs = len(head) // 2
    if pairs < 2:
        return None
    even, odd = head[0 : pairs * 2 : 2].count(0), head[1 : pairs * 2 : 2].count(0)
    for zeros, others, name in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if zeros > 0.6 * pairs and others < 0.05 * pairs:
            warning = f"There is no byte order mark; the text was read as {name}."
            return Encoding(name, 0.8, (warning,))
    return None


def _is_utf8(file: io.BufferedReader) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while block := file.read(BLOCK_BYTES):
            # ASCII is most of most files and needs no decoding.
            if not block.isascii() or decoder.getstate()[0]:
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _sample(file: io.BufferedReader) -> bytes:
    """Collect lines that hold non-ASCII bytes: they alone tell encodings apart."""
    found, size = [], 0
    while (line := file.readline(BLOCK_BYTES)) and size < _SAMPLE_BYTES:
        if not line.isascii():
            first = _HIGH.search(line)
            # A piece around its first such byte: one line may be the whole file.
            start = max(0, (first.start() if first else 0) - 2048)
            found.append(line[start : start + 8192])
            size += len(found[-1])
    return b"".join(found)


def _guess(sample: bytes) -> Encoding:
    high = len(_HIGH.findall(sample))
    valid = sum(len(sequence) for sequence in _UTF8_SEQUENCE.findall(sample))
    # Mostly UTF-8: to read all of it in an old code page would spoil every accent for a few.
    if valid >= 0.8 * high:
        warning = "Some bytes are not valid UTF-8; they were read as cp1252."
        return Encoding("utf-8", 0.5, (warning,), repairs=True)
    match = from_bytes(sample, enable_fallback=False).best()
    if match is not None and _is_foreign(match, sample, high):
        confidence = round(max(0.0, 1.0 - match.chaos) * (0.75 + match.coherence / 4), 2)
        return _with_warning(match.encoding, confidence)
    # cp1252 has no character for these five bytes; latin-1 has one for every byte.
    if _CP1252_UNDEFINED.search(sample):
        return _with_warning("latin-1", 0.4)
    # In western text accented letters stand alone; long runs of them speak against it.
    runs = sum(len(run) for run in _LONG_HIGH_RUN.findall(sample))
    return _with_warning("cp1252", 0.85 if runs <= 0.1 * high else 0.4)


def _is_foreign(match: CharsetMatch, sample: bytes, high: int) -> bool:
    """Tell whether a guess is of text that western Europe does not write.

    charset-normalizer likes to name code pages of DOS for short western text, so that its answer
    counts only with a language, a script made of high bytes, or a valid multi-byte form behind it.
    """
    if high < _ENOUGH_HIGH_BYTES:
        return False
    if match.encoding in _MULTIBYTE:
        return bool(_LONG_HIGH_RUN.search(sample)) and match.chaos < 0.1
    letters = high + sum(sample.count(bytes([code])) for code in range(97, 123))
    if high > 0.5 * letters:
        return match.chaos < 0.2
    return match.coherence >= 0.5 and match.language not in _WESTERN


def _with_warning(name: str, confidence: float) -> Encoding:
    if confidence >= LOW_CONFIDENCE:
        return Encoding(name, confidence)
    text = f"The encoding is a guess: {name}, confidence {confidence:.2f}; accents may be wrong."
    return Encoding(name, confidence, (text,))
