"""What a daemon that has nothing to do yet has not imported."""

import subprocess
import sys

import pytest

HEAVY = (
    "charset_normalizer", "duckdb", "httpx2", "lxml", "openai", "openpyxl", "python_calamine",
    "watchfiles",
)  # fmt: skip
"""Some need half a second each: workers, the first connection to a provider and the first watched
folder load them."""

NEEDLESS = ("attr", "email", "rich", "tomllib", "zipfile")
"""Of what starts by itself: rich with attr, for tracebacks that are not shown; what the standard
library reads metadata with; and a parser of settings, where there is no file of them."""

STARTS = """
import sys
import kbd.core.api.daemon
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.settings import Settings
plugins = Plugins.discover(Settings())
print(*(status.name for status in plugins.statuses if status.status == "loaded"))
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.fixture(scope="module")
def started() -> tuple[set[str], set[str]]:
    """The plugins that a start loads, and the packages that are imported then."""
    done = subprocess.run(
        [sys.executable, "-c", STARTS], capture_output=True, text=True, check=True, timeout=60
    )
    plugins, packages = done.stdout.splitlines()
    return set(plugins.split()), set(packages.split())


def test_all_built_in_plugins_are_there(started: tuple[set[str], set[str]]) -> None:
    """Else the next test would prove nothing."""
    plugins, packages = started
    assert {"csv", "edits", "files", "offline", "openai", "tables", "text", "xlsx"} <= plugins
    assert {"kbd_openai", "kbd_tables", "kbd_xlsx", "msgspec"} <= packages


@pytest.mark.parametrize("package", [*HEAVY, *NEEDLESS])
def test_a_start_imports_nothing_heavy(package: str, started: tuple[set[str], set[str]]) -> None:
    """Declaring a plugin imports none of what it works with, and starting nothing needless."""
    assert package not in started[1]
