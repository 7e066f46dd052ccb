"""Full names in a request: "first and last name", "their names" of a table that keeps two columns.

The words become the two columns, one after the other. Rows are not sorted or grouped by both at
once, so there the words stay, and it is asked which is meant.
"""

from collections.abc import Iterable, Sequence

import msgspec

from kbd_offline.facts import KnownColumn
from kbd_offline.lexicon import LEXICON
from kbd_offline.names import tokens
from kbd_offline.request_tokens import RequestToken

__all__ = ["with_full_names"]


def with_full_names(
    request_tokens: Sequence[RequestToken], columns: Iterable[KnownColumn]
) -> Sequence[RequestToken]:
    """Return the tokens of a request with both columns in the place of a full name.

    Args:
        request_tokens: The tokens.
        columns: The columns that there are; where not just one is of given and one of family
            names, the tokens stay.
    """
    parts = {part: [one for one in columns if _is_part(one, part)] for part in ("given", "family")}
    if any(len(found) != 1 for found in parts.values()):
        return request_tokens
    (given,), (family,) = parts["given"], parts["family"]
    found: list[RequestToken] = []
    at = 0
    while at < len(request_tokens):
        end = _end_of_both(request_tokens, at) or _end_of_names(request_tokens, at)
        if end == at + 1:
            one = request_tokens[at]
            behind = msgspec.structs.replace(one, start=one.end)
            joint = msgspec.structs.replace(behind, kind="word", text="and", word="and")
            found += [_quoted(one, given), joint, _quoted(behind, family)]
        elif end:
            first, last = request_tokens[at], request_tokens[end - 1]
            joints = [one for one in request_tokens[at:end] if _says(one, "joint")]
            found += [_quoted(first, given), *joints, _quoted(last, family)]
        else:
            found.append(request_tokens[at])
        at = end or at + 1
    return found


def _is_part(column: KnownColumn, part: str) -> bool:
    words = set(tokens(column.name)) - LEXICON.cues["full_name"]
    return column.is_text and bool(words) and words <= LEXICON.cues[part]


def _says(token: RequestToken, cue: str) -> bool:
    return token.word in LEXICON.cues[cue]


def _end_of_both(found: Sequence[RequestToken], at: int) -> int:
    """Return where "first and last name", "Vor- und Nachname" ends that begins at a token, or 0."""
    words = [one.word for one in found[at : at + 5]]
    if not words or words[0] not in LEXICON.cues["given"]:
        return 0
    place = 1
    while place < len(words) and (words[place] == "-" or words[place] in LEXICON.cues["full_name"]):
        place += 1
    if place + 1 >= len(words) or words[place] not in LEXICON.cues["joint"]:
        return 0
    family = words[place + 1]
    if family not in LEXICON.cues["family"]:
        return 0
    is_named = place + 2 < len(words) and words[place + 2] in LEXICON.cues["full_name"]
    return at + place + 2 + is_named if is_named or len(family) > 4 else 0


def _end_of_names(found: Sequence[RequestToken], at: int) -> int:
    """Return where "names" ends that stands in a list of columns, or 0."""
    before = found[at - 1] if at else None
    is_listed = before is not None and (before.word == "," or _says(before, "before_names"))
    return at + 1 if is_listed and _says(found[at], "full_name") else 0


def _quoted(token: RequestToken, column: KnownColumn) -> RequestToken:
    return msgspec.structs.replace(token, kind="quoted", text=column.name, word="\x02")
