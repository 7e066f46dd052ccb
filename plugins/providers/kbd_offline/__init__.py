"""The embedded provider: tables split, totaled, converted and merged, files searched, by rules.

It is not a model and says so. It plays a model's part by the same messages and tools, so that kbd
does its main jobs with no network and no key.

    provider         its one model, and a turn of it
    conversation     what the messages hold, read anew each turn
    phases           research, plan, implement and summary
    table_choice     which of several tables a request is about
    table_research   a request about one table, completed by looking
    intents          what a request was understood to ask
    abilities        what can be asked for, told to who asked for another thing
    findings         what research writes down, and an intent as the items of a plan

Reading a request: `request_text` finds phrases, columns and numbers and has the words that mean
nothing more, `names` how names compare, `clauses` sorting, groups and figures, `conditions` those
on rows; `interpretation` finds the kind of job and puts the rest together; `equality` tells which
values count as one, `questions` what has to be asked about a table, `answers` what was said of it.
Doing it: one table (`sql`, with `summing_rows` for the formulas of a copy), sheets to text
(`conversion`), duplicates (`deduplication`), tables into one (`merge`), reports (`profiles`), find
and replace (`replacement`, `found_texts`). They share `files` and `workbooks`.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.providers import Provider
from kbd_offline.provider import OfflineProvider

__all__ = ["OfflineProvider", "kbd_register_providers"]


@hookimpl
def kbd_register_providers() -> Sequence[Provider]:
    """Declare the provider; it has no settings."""
    return [OfflineProvider()]
