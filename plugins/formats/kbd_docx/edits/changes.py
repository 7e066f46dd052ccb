"""Operations that accept or reject tracked changes."""

from difflib import get_close_matches

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd_docx.document import W
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.operations import SettledChanges
from kbd_docx.revisions.marks import revisions
from kbd_docx.revisions.settlement import Settlement

__all__ = ["settle_changes"]


def settle_changes(edit: DocumentEdit, operation: SettledChanges, *, accept: bool) -> str:
    """Accept or reject tracked changes: all, or those of an author or in some paragraphs.

    Raises:
        ValidationFailed: Nobody of that name made a change, or there are no such paragraphs.
    """
    roots = edit.stories.roots()
    if operation.author is not None:
        _check_author(operation.author, roots)
    if operation.first is not None:
        wanted = {each for block in _range(edit, operation) for each in revisions(block)}
        roots = roots[:1]
    else:
        wanted = {each for root in roots for each in revisions(root)}
    if operation.author is not None:
        wanted = {each for each in wanted if each.get(f"{W}author") == operation.author}
    settlement = Settlement(accept=accept, is_chosen=wanted.__contains__)
    changed = [root for root in roots if any(each in wanted for each in revisions(root))]
    for root in changed:
        settlement.settle(root)
    edit.let_go(settlement.removed)
    edit.recount(changed)
    if not settlement.count:
        edit.warnings.warn("There are no tracked changes there; nothing was settled.")
    count, done = settlement.count, "accepted" if accept else "rejected"
    return f"{count} tracked change{'' if count == 1 else 's'}: {done}"


def _range(edit: DocumentEdit, operation: SettledChanges) -> list[etree._Element]:
    """Return paragraphs by their numbers, and the tables between them."""
    assert operation.first is not None, "it is about a range"
    body = edit.body
    start = body.blocks.index(body.paragraph(operation.first))
    end = body.blocks.index(body.paragraph(operation.first + operation.count - 1), start)
    return body.blocks[start : end + 1]


def _check_author(author: str, roots: list[etree._Element]) -> None:
    authors = {each.get(f"{W}author", "") for root in roots for each in revisions(root)}
    if author in authors:
        return
    if not authors:
        raise ValidationFailed("the document has no tracked changes")
    near = get_close_matches(author, authors, n=1)
    hint = f"; nearest is {near[0]!r}" if near else ""
    raise ValidationFailed(
        f"nobody called {author!r} made tracked changes{hint}; "
        f"there are those of {listed(sorted(authors))}"
    )
