"""The embedded provider: tables split, totalled, filtered and converted by fixed rules.

It is not a model and says so. It plays a model's part by the same messages and tools, so that kbd
does its main job with no network and no key. Read in this order: `provider`, `conversation` (what
was said, read anew each turn), the phases `research`, `planning`, `implement` (with `sheets`), and
what they rest on: `intents` (what a request asks), `understanding` (how it is read; `files`,
`wording`, `clauses`, `conditions`, `vocabulary`), `steps`, `sql`, `names`, `declining`.
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
