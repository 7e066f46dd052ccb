"""What a reader must be told beside the text."""

from collections.abc import Iterator

from kbd_odt.document import Document

__all__ = ["document_warnings"]


def document_warnings(document: Document) -> Iterator[str]:
    """Yield what the text does not show, or shows with a label, in sentences."""
    notices = document.notices
    if notices.deletions:
        yield f"{_counted(notices.deletions, 'tracked deletion')} not shown."
    if notices.insertions:
        yield f"{_counted(notices.insertions, 'tracked insertion')} shown as part of the text."
    if notices.hidden:
        yield f"{_counted(notices.hidden, 'hidden text')} shown as [hidden: …]."
    if notices.comments:
        yield f"{_counted(notices.comments, 'comment')} shown as [comment: …]."
    if notices.shortened:
        yield f"{_counted(notices.shortened, 'long repeat')} of blanks or cells cut short."


def _counted(number: int, what: str) -> str:
    return f"1 {what} is" if number == 1 else f"{number:,} {what}s are"
