"""Places of a document and their titles: in the body by section, beside it by part.

The number of a paragraph or table in a title counts from 1 over the whole body, so that it is the
one that the map, the readings and the operations on paragraphs have; the heading before it says
in which section it stands. Rows and columns count from 1 in titles. The fields of a place count all
of them from 0, as the operations on tables do.
"""

import re
from bisect import bisect_right

from kbd.errors import ValidationFailed
from kbd.formats import Place
from kbd_docx.reader.contents import DocxContents, DocxSection
from kbd_docx.reader.regions import find_section

__all__ = ["DocxPlaces", "part_place"]

_HEADING_CHARS = 80
_SHOWN_CHARS = 80

_BODY = re.compile(
    r"(?:(?P<heading>.*\S)\s*[,:;]\s*)?"
    r"(?:paragraph|para\.?|¶)\s*(?P<paragraph>\d{1,9})",
    re.IGNORECASE | re.DOTALL,
)
_TABLE = re.compile(
    r"(?:(?P<heading>.*\S)\s*[,:;]\s*)?table\s*(?P<table>\d{1,9})"
    r"(?:\s*,?\s*row\s*(?P<row>\d{1,9}))?(?:\s*,?\s*col(?:umn|\.)?\s*(?P<column>\d{1,9}))?",
    re.IGNORECASE | re.DOTALL,
)
_PART = re.compile(
    r"(header|footer|footnote|endnote|comment|page section)\s*(\d{1,9})", re.IGNORECASE
)
_HOW = (
    'places of a document are written "Pricing, paragraph 12", "table 1, row 2, column 3", '
    '"header 1", "footnote 2" or as a heading; numbers of paragraphs and tables count from 1 over '
    "the whole body"
)


class DocxPlaces:
    """Places of one document.

    Args:
        name: The file's name, for messages.
        contents: What the map is made of.
    """

    def __init__(self, name: str, contents: DocxContents) -> None:
        self._name = name
        self._sections = contents.sections
        self.paragraph_count = contents.paragraph_count
        self.tables = contents.tables
        started = [(each.first, index) for index, each in enumerate(self._sections) if each.first]
        self._starts = [start for start, _ in started]
        self._indices = [index for _, index in started]

    def section_of(self, paragraph: int) -> int:
        """Return the index of the section that holds a paragraph, given from 0."""
        at = bisect_right(self._starts, paragraph + 1) - 1
        return self._indices[at] if at >= 0 else 0

    def section_of_table(self, table: int) -> int:
        """Return the index of the section that holds a table."""
        index = bisect_right(self._sections, table, key=lambda each: each.tables.stop)
        return min(index, len(self._sections) - 1)

    def paragraph(self, number: int) -> Place:
        """Return the place of a paragraph, from 0."""
        section = self.section_of(number)
        title = self._titled(section, f"paragraph {number + 1}")
        return Place(title, section=section, paragraph=number)

    def table(self, table: int, row: int | None = None, column: int | None = None) -> Place:
        """Return the place of a table, a row, a column or a cell, each from 0."""
        section = self.section_of_table(table)
        title = f"table {table + 1}"
        title += "" if row is None else f", row {row + 1}"
        title += "" if column is None else f", column {column + 1}"
        return Place(
            self._titled(section, title), section=section, table=table, row=row, column=column
        )

    def locate(self, text: str) -> Place:
        """Return the place that a text means.

        Raises:
            ValidationFailed: It means none here.
        """
        wanted = text.strip()
        if found := _BODY.fullmatch(wanted):
            return self._located_paragraph(found["heading"], int(found["paragraph"]))
        if found := _TABLE.fullmatch(wanted):
            return self._located_table(found)
        if found := _PART.fullmatch(wanted):
            return part_place(f"{found[1].lower()} {int(found[2])}")
        if wanted.casefold() == "properties":
            return part_place("properties")
        if not wanted:
            raise ValidationFailed(f"the place is blank; {_HOW}")
        return self._located_section(wanted)

    def _located_section(self, wanted: str) -> Place:
        number = re.fullmatch(r"section\s*(\d{1,9})", wanted, re.IGNORECASE)
        try:
            index = find_section(self._name, self._sections, int(number[1]) if number else wanted)
        except ValidationFailed as error:
            raise ValidationFailed(f"{error.message}; {_HOW}") from None
        first = self._sections[index].first
        if not first:
            return Place(self._heading(index) or f"section {index}", section=index)
        return self.paragraph(first - 1)

    def _located_paragraph(self, heading: str | None, number: int) -> Place:
        if not 1 <= number <= self.paragraph_count:
            raise ValidationFailed(
                f"there is no paragraph {number} in {self._name}: it has {self.paragraph_count}, "
                "counted from 1 over the whole body"
            )
        place = self.paragraph(number - 1)
        if heading is not None:
            self._check_heading(heading, place, f"paragraph {number}")
        return place

    def _located_table(self, found: re.Match[str]) -> Place:
        number = int(found["table"])
        if not 1 <= number <= len(self.tables):
            raise ValidationFailed(
                f"there is no table {number} in {self._name}: it has {len(self.tables)}, counted "
                "from 1"
            )
        table = self.tables[number - 1]
        place = [number - 1]
        for word, count in (("row", table.row_count), ("column", table.column_count)):
            at = int(found[word]) if found[word] else None
            if at is not None and not 1 <= at <= count:
                raise ValidationFailed(
                    f"there is no {word} {at} in table {number} of {self._name}: it has {count}, "
                    "counted from 1"
                )
            place.append(-1 if at is None else at - 1)
        row, column = (None if at < 0 else at for at in place[1:])
        made = self.table(place[0], row, column)
        if found["heading"] is not None:
            self._check_heading(found["heading"], made, f"table {number}")
        return made

    def _check_heading(self, heading: str, place: Place, what: str) -> None:
        """Check that a heading is that of the section; a number could be meant otherwise."""
        section = place.section or 0
        own = _folded(self._heading(section))
        if _folded(heading) in (own, _folded(f"section {section}")):
            return
        known = [i for i in range(len(self._sections))
                 if _folded(self._heading(i)) == _folded(heading)]  # fmt: skip
        if not known:
            raise ValidationFailed(
                f'there is no section "{heading[:_SHOWN_CHARS]}" in {self._name}; {_HOW}'
            )
        theirs = self._sections[known[0]]
        holds = f"paragraphs {theirs.first} to {theirs.last}" if theirs.first else "no paragraphs"
        raise ValidationFailed(
            f'{what} is not in section "{heading[:_SHOWN_CHARS]}", which has {holds}; numbers '
            "count from 1 over the whole body"
        )

    def _heading(self, section: int) -> str:
        if not 0 <= section < len(self._sections):
            return ""
        return _short(self._sections[section])

    def _titled(self, section: int, title: str) -> str:
        heading = self._heading(section)
        return f"{heading}, {title}" if heading else title


def part_place(part: str) -> Place:
    """Return the place of what is not in the body ("header 1", "properties")."""
    return Place(part, part=part)


def _short(section: DocxSection) -> str:
    heading = section.heading
    return heading if len(heading) <= _HEADING_CHARS else f"{heading[:_HEADING_CHARS]}…"


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()
