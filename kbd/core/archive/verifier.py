"""The verifier as it goes into a case file: the sources of `verify`, and what starts them.

`__main__.py` is the first member, the modules follow: their places hang on nothing but themselves,
so it finds them although headers or directory are damaged.
"""

import hashlib
from importlib.resources import files

from kbd.core.archive.verify import SOURCES
from kbd.core.archive.verify.layout import header_of
from kbd.core.archive.verify.manifest import Member, order

__all__ = ["verifier_files"]

_SOME_TIME = "2000-01-01T00:00:00Z"
"""The size of a header does not hang on the time."""


def verifier_files() -> dict[str, bytes]:
    """Return the files of the verifier by the names that they have in a case file."""
    folder = files("kbd.core.archive.verify")
    modules = {f"verify/{name}.py": folder.joinpath(f"{name}.py").read_bytes() for name in SOURCES}
    template = folder.joinpath("main.txt").read_text("utf-8")
    # The numbers have a fixed width, so a first attempt tells how long it will be.
    draft = _main(template, modules, 0)
    return {"__main__.py": _main(template, modules, len(draft)), **modules}


def _main(template: str, modules: dict[str, bytes], size_bytes: int) -> bytes:
    """Return `__main__.py` for a case file in which it has so many bytes."""
    first = _header_bytes("__main__.py")
    start, places = first + size_bytes, {}
    for name in sorted(modules, key=order):
        start += _header_bytes(name)
        places[name] = start
        start += len(modules[name])
    rows = []
    for name, source in modules.items():
        digest = hashlib.sha256(source).hexdigest()
        rows.append(f'    ("{name}", {places[name]:8}, {len(source):8}, "{digest}"),')
    filled = template.replace("{modules}", "\n".join(rows))
    span = {"{first}": first, "{last}": first + size_bytes - 1}
    for mark, place in span.items():
        filled = filled.replace(mark, f"{place:8}")
    return filled.encode("ascii")


def _header_bytes(name: str) -> int:
    return len(header_of(Member(name, 0, "", 0, ()), _SOME_TIME))
