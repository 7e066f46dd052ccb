"""Figures of a table with an open question: refused, until the question is answered.

Rows are shown meanwhile; what would be worked out of them is not, for it is not known which rows
count, or what the texts of a column come to.
"""

from collections.abc import Collection, Iterable

from kbd.errors import ValidationFailed
from kbd.formats import ReadingQuestion
from kbd.types import FileName

__all__ = ["check_figures", "check_values"]


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
            raise _waiting(name, question)


def check_values(
    name: FileName, questions: Iterable[ReadingQuestion], valued: Collection[str]
) -> None:
    """Refuse numbers and dates that are made of texts which can be read in two ways.

    Args:
        name: The table's file.
        questions: The open questions about the table.
        valued: The columns whose texts are taken for such, in lower case; "*" for all.

    Raises:
        ValidationFailed: There is a question about one of them: a cast would answer it by chance.
    """
    for question in questions:
        asked = {column.lower() for column in question.columns}
        if question.about != "totals" and ("*" in valued or asked.intersection(valued)):
            raise _waiting(name, question)


def _waiting(name: FileName, question: ReadingQuestion) -> ValidationFailed:
    about = question.about
    meanings = "; ".join(f"{one.value}: {one.meaning}" for one in question.options)
    answers = " or ".join(f'{{"{about}": "{one.value}"}}' for one in question.options)
    return ValidationFailed(
        f"{name}: {question.text} Figures wait for the answer: say it with read_as "
        f"{answers} ({meanings})"
    )
