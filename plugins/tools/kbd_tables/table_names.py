"""Names of tables in SQL: which file of the workbench, or which sheet of one, a name means.

A table is called as its file is, suffix included; `"book.xlsx"."Sheet"` is a sheet of a workbook.
Where only one file can be meant, the suffix, the folders and the case may be left out. `data` is
the table that the call names, whatever files there are. A call may give names of its own, each with
its own reading, which go before those of files.
"""

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

import msgspec

from kbd.errors import ValidationFailed

__all__ = ["DATA", "TableCatalog", "TableName", "check_names", "nearest"]

DATA = "data"
"""What the table that a call names is called."""

_OWN_SCHEMA = "main"
_MAX_LISTED = 30
_MAX_SAID = 200


class TableName(msgspec.Struct, frozen=True):
    """A table that a statement names: its file, and its sheet if one is named.

    `given` is the name that the call gave it: the same file may be read in two ways.
    """

    file: str
    sheet: str | None = None
    given: str = ""


class TableCatalog(msgspec.Struct, frozen=True):
    """The tables of a workbench, by the names of their files.

    Args:
        data: The table that the call names.
        files: All files that are tables.
        given: The tables that the call gave names to.
    """

    data: TableName
    files: tuple[str, ...]
    given: tuple[TableName, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What tables may be called, `data` first."""
        return (DATA, *(table.given for table in self.given), *self.files)

    def find(self, path: Sequence[str]) -> TableName | None:
        """Return the table that a name means; None if it is no table of the workbench.

        Args:
            path: The parts of the name, as SQL has them.

        Raises:
            ValidationFailed: Several may be meant.
        """
        match list(path):
            case [name]:
                if name.lower() == DATA:
                    return self.data
                for table in self.given:
                    if table.given.casefold() == name.casefold():
                        return table
                return self._named(self._file(name), None)
            case [schema, name] if schema.lower() == _OWN_SCHEMA:
                return self.find([name])
            case [first, last]:
                # Without quotes a file's suffix looks like a table of a schema.
                whole = self._file(f"{first}.{last}", _SPELLINGS[:1])
                if whole is not None:
                    return self._named(whole, None)
                return self._named(self._file(first), last)
            case _:
                return None

    def unknown(self, path: Sequence[str]) -> ValidationFailed:
        """Return the error of a name that is no table's: with what is near, and all there are."""
        name = ".".join(path)
        # Not said again: no message has an absolute path.
        if any(part.startswith(("/", "~", "\\")) or ":" in part for part in path):
            return ValidationFailed(f"a path is no name of a table; {self.described()}")
        known = [spelled(file) for spelled in reversed(_SPELLINGS) for file in self.files]
        near = nearest(name, (*known, *self.names))
        hint = f"; did you mean {_quoted(near)}?" if near else ""
        said = name[:_MAX_SAID]
        return ValidationFailed(f"there is no table {said}{hint}\n{self.described()}")

    def described(self) -> str:
        """Return a sentence that lists the tables."""
        others = self.names[1:]
        shown = ", ".join(_quoted(name) for name in others[:_MAX_LISTED])
        more = f" and {len(others) - _MAX_LISTED} more" if len(others) > _MAX_LISTED else ""
        return f"the tables are {DATA}, which is {self.data.file}, and {shown}{more}"

    def _named(self, file: str | None, sheet: str | None) -> TableName | None:
        return None if file is None else TableName(file, sheet)

    def _file(
        self, name: str, spellings: Sequence[Callable[[str], str]] | None = None
    ) -> str | None:
        """Return the file that a text means, as the least shortened spelling of one."""
        if name in self.files:
            return name
        wanted = _folded(name)
        for spelled in _SPELLINGS if spellings is None else spellings:
            found = [file for file in self.files if _folded(spelled(file)) == wanted]
            if len(found) > 1:
                listed = " or ".join(_quoted(file) for file in found[:_MAX_LISTED])
                raise ValidationFailed(f"the table {name} may be {listed}; write the whole name")
            if found:
                return found[0]
        return None


def check_names(names: Iterable[str]) -> None:
    """Check names that a call gives to tables.

    Raises:
        ValidationFailed: One is `data`, no plain name, or the same as another one to SQL.
    """
    seen: dict[str, str] = {}
    for name in names:
        if not _PLAIN_NAME.fullmatch(name):
            raise ValidationFailed(
                f"{name[:_MAX_SAID]!r} cannot name a table: take letters without accents, digits "
                "and _, and begin with no digit"
            )
        if name.casefold() == DATA:
            raise ValidationFailed(f"{DATA} is the table at path; name another one otherwise")
        if name.casefold() in seen:
            raise ValidationFailed(
                f"to SQL the names {seen[name.casefold()]} and {name} are the same"
            )
        seen[name.casefold()] = name


_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is nearest to one, without regard to case; None if none is."""
    by_folded = {_folded(each): each for each in reversed(list(known))}
    # Cut, for the time of the comparison can grow with the square of the length.
    found = difflib.get_close_matches(_folded(name[:_MAX_SAID]), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _quoted(name: str) -> str:
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'


def _without_suffix(name: str) -> str:
    return str(PurePosixPath(name).with_suffix("")) if PurePosixPath(name).suffix else name


def _last_part(name: str) -> str:
    return PurePosixPath(name).name


def _stem(name: str) -> str:
    return PurePosixPath(name).stem


_SPELLINGS = (str, _without_suffix, _last_part, _stem)
"""How a file may be called, from its whole name to the shortest."""
