"""Numbers of pages as people write them: "1-5", "3", "2,7-9"; counted from 1."""

import re
from collections.abc import Sequence

from kbd.errors import ValidationFailed

__all__ = ["MAX_PAGES", "format_page_numbers", "parse_page_numbers"]

MAX_PAGES = 2000
"""Pages that one call looks at (reliability, section 4)."""

_PART = re.compile(r"\s*(\d{1,9})\s*(?:[-\u2013]\s*(\d{1,9})\s*)?")


def parse_page_numbers(pages: str, count: int | None, name: str) -> tuple[int, ...]:
    """Return the pages that a text names, each once, in the order in which it names them.

    Args:
        pages: Numbers and ranges between commas; blanks do not matter.
        count: How many pages there are; None where that is not known yet.
        name: The file, for messages.

    Raises:
        ValidationFailed: It is no such text, a range is reversed, a page is not there, or there are
            more than `MAX_PAGES`.
    """
    found: dict[int, None] = {}
    for part in pages.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            msg = f'pages "{pages[:80]}" are not understood: give them as "1-5", "3" or "2,7-9"'
            raise ValidationFailed(msg)
        first = int(match[1])
        last = int(match[2] or first)
        if last < first:
            raise ValidationFailed(f"pages {first}-{last} are reversed: give {last}-{first}")
        if count is None:
            if first < 1:
                raise ValidationFailed(f"pages of {name} are counted from 1; page 0 is none")
        elif first < 1 or last > count:
            missing = first if first < 1 or first > count else last
            counted = f"{count} pages, counted from 1" if count != 1 else "1 page"
            raise ValidationFailed(f"{name} has {counted}; page {missing} is not one of them")
        # Before they are listed: a file may claim a thousand million pages.
        if last - first >= MAX_PAGES:
            raise _too_many(name)
        found.update(dict.fromkeys(range(first, last + 1)))
        if len(found) > MAX_PAGES:
            raise _too_many(name)
    return tuple(found)


def format_page_numbers(numbers: Sequence[int]) -> str:
    """Return pages as `parse_page_numbers` understands them: "2,7-9"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _too_many(name: str) -> ValidationFailed:
    return ValidationFailed(f"{name} is read {MAX_PAGES:,} pages at a time; give fewer")
