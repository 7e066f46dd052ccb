"""Figures of a table with an open question: refused, until the question is answered.

Rows are shown meanwhile; what would be worked out of them is not, for it is not known which rows
count.
"""

import json
from collections.abc import Sequence
from typing import Any

from kbd.errors import ValidationFailed
from kbd_tables.duck import closing_connection

__all__ = ["check_figures", "check_statement"]


def check_figures(questions: Sequence[dict[str, Any]]) -> None:
    """Refuse figures of all rows of a table.

    Args:
        questions: The open questions about the table: plain `ReadingQuestion`.

    Raises:
        ValidationFailed: There is one about which rows count.
    """
    for question in questions:
        if question["about"] == "totals":
            meanings = "; ".join(f"{one['value']}: {one['meaning']}" for one in question["options"])
            raise ValidationFailed(
                f"{question['text']} Figures wait for the answer: say it with read_as "
                f'{{"totals": "leave_out"}} or {{"totals": "keep"}} ({meanings})'
            )


def check_statement(questions: Sequence[dict[str, Any]], sql: str | None) -> None:
    """Refuse a statement that works figures out; of its rows alone nothing is wrong.

    Raises:
        ValidationFailed: As `check_figures`.
    """
    if questions and sql is not None and _works_out(sql):
        check_figures(questions)


def _works_out(sql: str) -> bool:
    """Tell whether a statement groups or aggregates, or cannot be told."""
    with closing_connection() as connection:
        answer = connection.execute("SELECT json_serialize_sql(?)", [sql.rstrip("; \n\t")])
        row = answer.fetchone()
        tree = json.loads(row[0]) if row else {"error": True}
        found = connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions()"
            " WHERE function_type = 'aggregate'"
        ).fetchall()
    if tree.get("error"):
        # It is told what is wrong with it where it runs.
        return False
    aggregates = {str(name).lower() for (name,) in found}
    stack: list[Any] = [tree]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack.extend(part)
        elif isinstance(part, dict):
            is_figure = (
                bool(part.get("group_expressions"))
                or part.get("show_type") == "SUMMARY"
                or str(part.get("function_name", "")).lower() in aggregates
            )
            if is_figure:
                return True
            stack.extend(part.values())
    return False
