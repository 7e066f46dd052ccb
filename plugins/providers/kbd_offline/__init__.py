"""The embedded provider: everyday requests read as jobs, by rules, in English and German.

It is not a model and says so. It plays a model's part by the same messages and tools, so that kbd
does its main jobs with no network and no key. What it reads is a job (`kbd.jobs`), which the tools
`check_job` and `run_job` check and carry out.

    provider         its one model, and a turn of it
    conversation     what the messages hold, read anew each turn; `answers` what was said in them
    phases           research, plan, implement and summary; `summing_rows` the formulas of a copy
    inspection       the facts of tables, by tools that only look
    intents          what goes from phase to phase
    profiles         reports of what files hold
    abilities        what can be asked for, told to who asked for that, and what is near a request

Reading is pure. `request` chooses the table, `single` makes a job of one, `combination` of several,
`sheet_conversion` of the sheets of a workbook, `substitution` of find and replace; `open_questions`
are what a table leaves open, `request_files` and `sheets` the names in a request.

    facts            tables, columns and values that are known
    lexicon          phrases by what they mean, of `english` and `german`; `names` compare
    request_tokens   words, numbers, texts in quotes; `day_ranges` gives days their month
    mentions         columns and values that a place names; `full_names` those of two columns
    scan             a request with all of that at hand
    patterns         the small language of rules, and the chart of all that they find
    terminals        what rules find by looking at words: columns, values, numbers,
                     days (`periods`)
    condition_rules  rules; so are `time_rules`, `figure_rules`, `rank_rules`, `column_rules`
    reading          the clauses that together use every word at the least cost, of `clauses`;
                     `grammar_checks` ask where words are left or mean two things
    composition      steps made of them: `composed_job`, `figure_composer`, `group_composer`;
                     their texts are `expressions`; `rank_checks` ask where a rank has two ways

Of several tables `together` uses up the words for what is done with them, and reads the others
against what comes of it: `unions`, `joins` and `comparisons`, by the phrases that `table_rules`
find in a `table_scan`, with `evident_keys` to match rows and `owners` for whose column is meant.
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
