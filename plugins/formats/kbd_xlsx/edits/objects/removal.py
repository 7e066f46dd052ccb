"""Comments, links, validations and conditional formats taken off the cells of a range."""

from typing import assert_never

from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.objects.comments import take_comments
from kbd_xlsx.edits.objects.conditional_formats import take_rules
from kbd_xlsx.edits.objects.hyperlinks import take_hyperlinks
from kbd_xlsx.edits.objects.ranges import parse_ranges, written_ranges
from kbd_xlsx.edits.objects.validations import take_validations
from kbd_xlsx.operations import ClearObjects

__all__ = ["clear_objects"]


def clear_objects(book: BookEdit, operation: ClearObjects) -> str:
    """Take objects off cells and say how many; raises ValidationFailed."""
    sheet = book.sheet(operation.sheet)
    areas = parse_ranges(operation.range)
    counts = []
    for what in dict.fromkeys(operation.what):
        match what:
            case "comments":
                count = take_comments(book, sheet, areas)
            case "hyperlinks":
                count = take_hyperlinks(book, sheet, areas)
            case "validations":
                count = take_validations(sheet, areas)
            case "conditional_formats":
                count = take_rules(sheet, areas)
            case _:
                assert_never(what)
        counts.append(f"{count or 'no'} {what.replace('_', ' ')}")
    return f"{sheet.name}!{written_ranges(areas)}: {', '.join(counts)} taken off"
