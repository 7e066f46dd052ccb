"""What a tag is, as models write it, and how a text is kept from holding one. Pure."""

import re

__all__ = ["CALL", "RESULT", "TAG", "escape_tags", "shown_length"]

CALL = "myPT_toolcall"
RESULT = "myPT_toolresult"

TAG = re.compile(
    r"(?P<open><|&lt;)\s{0,4}(?P<end>/?)\s{0,4}mypt_tool(?P<kind>call|result)\b"
    r"(?:[^<>{&]{0,40}(?:>|&gt;))?",
    re.IGNORECASE | re.ASCII,
)
"""A tag: in any case, with blanks, HTML-escaped, with attributes or without its `>`."""

MOST_TAG_CHARACTERS = 32
"""No tag is longer up to the end of its name."""

_NAME = re.compile(r"(mypt)_(?=tool(?:call|result))", re.IGNORECASE | re.ASCII)


def escape_tags(text: str) -> str:
    r"""Return a text that holds no tag: the `_` of each tag's name is written `\u005f`.

    In the strings of JSON that means the same, so JSON text stays JSON and keeps its meaning.
    """
    return _NAME.sub(r"\1\\u005f", text)


def shown_length(text: str) -> int:
    """Return how much of a text that is still coming surely stands before its first tag.

    Args:
        text: What came so far, from any point before the first tag.
    """
    found = TAG.search(text)
    if found is not None:
        return found.start()
    start = max(0, len(text) - MOST_TAG_CHARACTERS)
    for place in range(start, len(text)):
        if text[place] in "<&" and _may_become_tag(text[place:]):
            return place
    return len(text)


def _may_become_tag(tail: str) -> bool:
    """Tell whether the end of a text may be the beginning of a tag."""
    if "&lt;".startswith(tail):
        return True
    written = "".join(tail.lower().replace("&lt;", "<", 1).split()).replace("/", "", 1)
    return any(f"<{name}".lower().startswith(written) for name in (CALL, RESULT))
