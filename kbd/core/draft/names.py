"""What a path of a client, a model or a file on disk may mean: a relative name, or a refusal.

The rules are those of contract, section 4, and reliability, section 5.3 A: a name must mean the
same file on every machine that the workbench may be copied to, and must be readable in a terminal.
"""

import unicodedata

from kbd.errors import SandboxViolation
from kbd.types import FileName

__all__ = ["MAX_COMPONENTS", "MAX_COMPONENT_BYTES", "file_name"]

MAX_COMPONENT_BYTES = 200
"""Most file systems allow 255; the rest is room for what a conflict or a copy appends."""

MAX_COMPONENTS = 16

_ROOTS = ("draft/", "published/")
_RESERVED_FIRST = frozenset({"meta"})
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul"}
    | {f"com{digit}" for digit in "123456789"}
    | {f"lpt{digit}" for digit in "123456789"}
)
_FORBIDDEN = frozenset('\\:*?"<>|')
# Formatting characters that reorder or hide text: a name that lies about itself.
_INVISIBLE = frozenset({"Cf", "Cc", "Cs", "Zl", "Zp"})


def file_name(path: str) -> FileName:
    """Return the name that a path means inside a workbench, NFC and without `.` components.

    A leading `draft/` or `published/` is dropped: it means the same file.

    Raises:
        SandboxViolation: It is absolute, has `..` as a component, or is not a name that every
            machine can hold and every reader can see.
    """
    text = unicodedata.normalize("NFC", path)
    for root in _ROOTS:
        if text.startswith(root) and len(text) > len(root):
            text = text[len(root) :]
            break
    if text.startswith(("/", "~")):
        raise _refused(path, "is not relative to the workbench")
    components = [part for part in text.split("/") if part not in ("", ".")]
    if not components:
        raise _refused(path, "names no file")
    if len(components) > MAX_COMPONENTS:
        raise _refused(path, f"has more than {MAX_COMPONENTS} levels")
    if components[0].casefold() in _RESERVED_FIRST:
        raise _refused(path, "is reserved")
    for part in components:
        _check(path, part)
    return FileName("/".join(components))


def _check(path: str, part: str) -> None:
    if part == "..":
        raise _refused(path, "would leave the workbench")
    if len(part.encode("utf-8", "surrogatepass")) > MAX_COMPONENT_BYTES:
        raise _refused(path, f"has a part of more than {MAX_COMPONENT_BYTES} bytes")
    for character in part:
        if unicodedata.category(character) in _INVISIBLE:
            raise _refused(path, f"has the invisible character U+{ord(character):04X}")
        if character in _FORBIDDEN:
            raise _refused(path, f"has the character {character!r}, which not every system allows")
    if part[-1] in ". ":
        raise _refused(path, "has a part that ends with a dot or a blank")
    if part.split(".", 1)[0].casefold() in _DEVICES:
        raise _refused(path, "is the name of a device on some systems")


def _refused(path: str, why: str) -> SandboxViolation:
    shown = path if len(path) <= 80 else path[:77] + "..."
    return SandboxViolation(f"the path {shown!r} {why}")
