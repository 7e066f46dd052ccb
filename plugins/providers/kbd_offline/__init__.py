"""The embedded provider: tables split, totalled, converted and merged, files searched, by rules.

It is not a model and says so. It plays a model's part by the same messages and tools, so that kbd
does its main jobs with no network and no key. Read in this order: `provider`, `conversation` (what
was said, read anew each turn), the phases `research`, `planning`, `implement`, and what they rest
on: `intents` (what a request asks), `jobs` (which kind of job it is), `findings` (what research
writes down), `steps` (an intent as a plan), `declining`.

Each kind of job has its own modules: one table `tabling` (`understanding`, `clauses`,
`conditions`, `sql`, `sheets`), a workbook's sheets to text `converting`, duplicates `deduping`,
tables into one `merging` and `stacking`, reports `profiling`, `profiles` and `reports`, find and
replace `replacing`, `substituting`, `texts` and `cells`. They share `files`, `books`, `targets`
and `exporting` (files, sheets, results), and the reading of words: `wording`, `vocabulary`,
`synonyms`, `names`.
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
