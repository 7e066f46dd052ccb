"""Plugin that benchmarks of workers call: `installed` puts it into a folder for them."""

import sys
from pathlib import Path

from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.runtime.settings import Settings

__all__ = ["MODULE", "installed"]

MODULE = "kbd_bench_plugin"

_SOURCE = """
import time
from pathlib import Path

from kbd import hookimpl
from kbd.formats import FormatHandler

class Bench(FormatHandler):
    name = "bench"
    wire_name = "Bench"
    kind = "text"
    suffixes = {".bench": "text/plain"}

def echo(value):
    return value

def read(path):
    return Path(path).read_bytes()

def sleep():
    time.sleep(60)

@hookimpl
def kbd_register_formats():
    return [Bench()]
"""


def installed(folder: Path) -> Plugins:
    """Write the plugin into a folder that is searched for modules from here on, and load it."""
    (folder / f"{MODULE}.py").write_text(_SOURCE)
    sys.path.append(str(folder))
    return Plugins.discover(Settings(), found=[EntryPoint("bench", MODULE)])
