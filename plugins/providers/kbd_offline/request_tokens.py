"""Tokens of a request: words, numbers, dates, texts in quotes, files and signs. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from kbd_offline.names import fold

__all__ = ["QUOTED", "RequestToken", "tokenize", "with_joined_names", "word_texts"]

# An apostrophe within a word, as in "don't", opens and closes nothing: hence no letter may stand
# before the first sign, or behind a closing single quote.
QUOTED = (
    r"(?<![^\W_])(?:\"([^\"\n]*)\"|'([^'\n]*)'(?![^\W_])|“([^”\n]*)”|‘([^’\n]*)’"
    r"|„([^“”\n]*)[“”]|«([^»\n]*)»|`([^`\n]*)`)"
)
"""A text in quotes of any kind; the text itself is the one group that is there."""

_DATE = (
    r"\d{4}-\d{1,2}-\d{1,2}(?![\w-])|\d{1,2}\.\d{1,2}\.\d{4}(?!\w)|\d{1,2}/\d{1,2}/\d{4}(?!\w)"
    r"|\d{4}-(?:0[1-9]|1[0-2])(?![\w-])|\d{1,2}\.(?:0?[1-9]|1[0-2])\.(?![\d])"
)
_NUMBER = r"\d+(?:[.,]\d+)*(?:k(?!\w))?(?![^\W_])"
_WORD = r"[^\W_]+(?:['’](?:s|t|re|ve|ll|m|d)(?!\w))?"
_TOKEN = re.compile(
    rf"(?P<quoted>{QUOTED})|(?P<date>{_DATE})|(?P<number>{_NUMBER})|(?P<word>{_WORD})"
    r"|(?P<sign><=|>=|<>|!=|==|->|[^\s\w])"
)
_BARE = re.compile(rf"{_DATE}|{_NUMBER}|{_WORD}|<=|>=|<>|!=|==|->|[^\s\w]")


class RequestToken(msgspec.Struct, frozen=True):
    """A piece of a request.

    Args:
        kind: What it is.
        text: Itself as written, without its quotes; of a file its path.
        word: It folded; of a text in quotes or a file a sign that no phrase has.
        start, end: Its place in the request.
    """

    kind: Literal["word", "number", "date", "quoted", "file", "sign"]
    text: str
    word: str
    start: int
    end: int


def tokenize(request: str, files: Sequence[tuple[int, int, str]]) -> tuple[RequestToken, ...]:
    """Return the tokens of a request.

    Args:
        request: It.
        files: Where it names files: start, end and path, in order.
    """
    found: list[RequestToken] = []
    place = 0
    for start, end, path in (*files, (len(request), len(request), "")):
        found += _plain(request, place, start)
        if path:
            found.append(RequestToken("file", path, "\x01", start, end))
        place = end
    return tuple(found)


def with_joined_names(
    found: Sequence[RequestToken], names: Iterable[str], request: str
) -> Sequence[RequestToken]:
    """Return tokens of which each name that is written with underscores is one, as in quotes.

    Nobody writes "maximum_temperature" who asks for the maximum of a temperature.

    Args:
        found: The tokens.
        names: The names that there are; those without underscores are passed over.
        request: The request.
    """
    joined = sorted((name for name in names if "_" in name.strip("_")), key=len, reverse=True)
    if not joined or "_" not in request:
        return found
    any_name = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, joined))})(?!\w)", re.IGNORECASE)
    spelt: list[RequestToken] = []
    for token in found:
        name = spelt[-1] if spelt else None
        if name is not None and token.start < name.end:
            # A part of the name before.
            continue
        at = any_name.match(request, token.start) if token.kind in ("word", "number") else None
        spelt.append(RequestToken("quoted", at.group(), "\x02", *at.span()) if at else token)
    return spelt


def word_texts(text: str) -> Iterator[str]:
    """Yield the words, numbers and signs of a folded text without quotes."""
    for found in _BARE.finditer(text):
        if not _is_gap(text, found):
            yield found.group()


def _plain(request: str, start: int, end: int) -> Iterator[RequestToken]:
    for found in _TOKEN.finditer(request, start, end):
        if _is_gap(request, found):
            continue
        kind = next(name for name in _KINDS if found[name] is not None)
        if kind == "quoted":
            text = next(group for group in found.groups()[1:8] if group is not None)
            yield RequestToken(kind, text, "\x02", *found.span())
        else:
            text = found.group()
            word = fold(text).replace("’", "'")
            yield RequestToken(kind, text, _SHORTENED.get(word, word), *found.span())


_SHORTENED: Mapping[str, str] = {
    f"{verb}t": f"{verb}'t"
    for verb in ("don", "doesn", "didn", "isn", "aren", "wasn", "weren", "hasn", "haven", "hadn")
}
"""Words that people write without the apostrophe."""
_KINDS: tuple[Literal["quoted", "date", "number", "word", "sign"], ...] = (
    "quoted", "date", "number", "word", "sign",
)  # fmt: skip


def _is_gap(text: str, found: re.Match[str]) -> bool:
    """Tell whether a sign only joins the parts of a word: "e-mail", "d'achat"."""
    start, end = found.span()
    return (
        found.group() in "-'’"
        and start > 0
        and end < len(text)
        and text[start - 1].isalnum()
        and text[end].isalnum()
    )
