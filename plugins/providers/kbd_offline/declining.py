"""What the offline provider says when it does not do a request. Pure."""

from kbd_offline.intents import Declined

__all__ = ["NOT_A_MODEL", "explained"]

NOT_A_MODEL = "kbd's offline provider did this by fixed rules; it is not a language model."

_WHAT_IT_CAN = """\
I am kbd's offline provider: fixed rules, not a language model. On a table of the workbench (csv, \
tsv, or a sheet of a workbook) I can
- put each value of a column on its own sheet, with a summary sheet of totals
- total, average or count by one or more columns
- filter, sort and choose columns
- convert it: csv to xlsx, a sheet or every sheet to csv or tsv
- remove duplicate rows, as a whole or by columns
On several files I can
- merge tables with the same columns into one
- write a report of what they hold (docx, md, txt, xlsx)
- replace a text by another one, in documents, decks, cells and texts

Say it with the names of columns, for example: one sheet per Category with Date and Amount sorted \
by Date, and a summary sheet with totals.
For anything else connect a model: set OPENAI_API_KEY (or OPENAI_BASE_URL for a server of your \
own) and use --model openai:NAME."""


def explained(intent: Declined) -> str:
    """Return what was understood, why it is not done, what can be done, how to connect a model."""
    return (
        "This was not done, and nothing was changed.\n\n"
        f"I read the request as: {intent.understood}\n"
        f"Why not: {intent.reason}\n\n"
        f"{_WHAT_IT_CAN}"
    )
