"""A distribution of plugins in a folder, as an installer leaves it, and a daemon that finds it."""

from collections.abc import Mapping
from pathlib import Path

__all__ = ["describe_plugins"]

_PREFACE = """
from functools import partial
from pathlib import Path
from kbd.core.api import daemon
sys.path.append({site!r})
daemon.WorkerPool = partial(daemon.WorkerPool, extra_paths=[Path({site!r})])
"""


def describe_plugins(site: Path, name: str, points: Mapping[str, str]) -> str:
    """Describe a distribution that lies in a folder.

    Args:
        site: The folder, in which its packages are.
        name: What it is called.
        points: Its plugins and the modules that they are.

    Returns:
        Code that has a daemon find it, and its workers, too.
    """
    described = site / f"{name}-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(f"Name: {name}\nVersion: 1\n\n")
    lines = "".join(f"{point} = {module}\n" for point, module in points.items())
    (described / "entry_points.txt").write_text(f"[kbd]\n{lines}")
    return _PREFACE.format(site=str(site))
