"""Figures of a table with an open question: refused, until the question is answered.

Rows are shown meanwhile; what would be worked out of them is not, for it is not known which rows
count.
"""

from collections.abc import Iterable

from kbd.errors import ValidationFailed
from kbd.formats import ReadingQuestion
from kbd.types import FileName

__all__ = ["check_figures"]


def check_figures(name: FileName, questions: Iterable[ReadingQuestion]) -> None:
    """Refuse figures that are worked out of a table's rows.

    Args:
        name: The table's file.
        questions: The open questions about the table.

    Raises:
        ValidationFailed: There is one about which rows count.
    """
    for question in questions:
        if question.about == "totals":
            meanings = "; ".join(f"{one.value}: {one.meaning}" for one in question.options)
            answers = " or ".join(f'{{"totals": "{one.value}"}}' for one in question.options)
            raise ValidationFailed(
                f"{name}: {question.text} Figures wait for the answer: say it with read_as "
                f"{answers} ({meanings})"
            )
