"""HTML escaping, and formatting of times and sizes: text becomes markup here and nowhere else.

`Html` is a type of its own, so that a type checker finds every text that was not escaped. What the
eye would not see (control characters, marks that turn the direction of writing, characters without
width) is shown by its name: what a model was sent is evidence, and may have been made to hide.
"""

import html
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NewType

__all__ = [
    "Attributes",
    "Html",
    "clock",
    "count",
    "data_block",
    "duration",
    "element",
    "joined",
    "parse_time_ms",
    "plain",
    "size",
    "text",
    "visible",
]


Html = NewType("Html", str)
"""Markup that is safe to embed."""

Attributes = Mapping[str, str | int | bool | None]
"""False and None leave an attribute out, True is one without a value."""

# What nobody sees, or what turns a line around, could make a text read as another one.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)

_CONTROLS = (
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR",
    "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC",
    "FS", "GS", "RS", "US",
)  # fmt: skip
"""What the first 32 characters are called (ISO/IEC 6429)."""

_HTML_VOID = frozenset({"br", "col", "hr", "img", "input", "meta"})
_VOID = _HTML_VOID | {"rect", "circle", "line", "use", "path"}


def text(words: str) -> Html:
    """Escape a text as markup that shows it, every hidden character by its name."""
    return Html(
        # Escaped first: the names that are put in are markup themselves.
        _HIDDEN.sub(
            lambda found: f"<i>{_hidden_name(found[0])}</i>", html.escape(words, quote=False)
        )
    )


def plain(words: str) -> Html:
    """Escape a text without elements, for where none may stand: titles, choices, drawings."""
    return Html(html.escape(visible(words), quote=False))


def visible(words: str) -> str:
    """Return a text with every hidden character replaced by its name."""
    return _HIDDEN.sub(lambda found: f"⟨{_hidden_name(found[0])}⟩", words)


def element(name: str, attributes: Attributes, *children: Html) -> Html:
    """Return an element with its attributes, which are escaped, and its children."""
    rendered = "".join(
        f" {key}" if value is True else f' {key}="{html.escape(visible(str(value)))}"'
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _VOID:
        return Html(
            f"<{name}{rendered}>"
            # The others are of SVG, where an element without an end tag must close itself.
            if name in _HTML_VOID
            else f"<{name}{rendered}/>"
        )
    return Html(f"<{name}{rendered}>{''.join(children)}</{name}>")


def joined(parts: Iterable[Html]) -> Html:
    """Return pieces of markup as one."""
    return Html("".join(parts))


def data_block(name: str, value: Any) -> Html:
    """Return a value as JSON in a block that no browser runs and nothing inside can end."""
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    # Neither `</script>` nor `<!--` may stand in script data (HTML, section 13.2.5.4).
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="{name}">{written}</script>')


def _hidden_name(character: str) -> str:
    """Return the visible name of a hidden character, or its code point."""
    code = ord(character)
    return _CONTROLS[code] if code < len(_CONTROLS) else f"U+{code:04X}"


def parse_time_ms(ts: str) -> float:
    """Return a time of the wire (ISO 8601, UTC) in milliseconds since 1970."""
    return datetime.fromisoformat(ts).timestamp() * 1000


def clock(ts: str) -> str:
    """Return a time of the wire to the millisecond, without the day."""
    return datetime.fromisoformat(ts).astimezone(UTC).strftime("%H:%M:%S.%f")[:-3]


def duration(ms: float) -> str:
    """Return a duration in the two units that matter."""
    seconds = ms / 1000
    # Half a millisecond below a second, from where rounding would show "1000 ms".
    if seconds < 0.9995:
        return f"{ms:.0f} ms"
    if seconds < 59.5:
        return f"{seconds:.0f} s" if seconds >= 9.95 or seconds.is_integer() else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def size(size_bytes: int) -> str:
    """Return a number of bytes."""
    amount = float(size_bytes)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def count(number: int, noun: str = "", plural: str = "") -> str:
    """Return a number with its thousands apart, and its noun if one is given."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
