"""Redaction of known keys in what is recorded: events, and blobs of conversations.

It is done where events are appended and where such blobs are put, so nothing that is written later
can have forgotten it. What names a file, a folder, a workbench, a model or a plugin is left as it
is: it says where things lie, and no server chose it. Files of people are never changed.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from kbd.core.runtime.secrets import REDACTED, Secrets
from kbd.types import BlobHash, FileName, RunId, WatchId, WorkbenchId

__all__ = ["Redaction"]

_UNREDACTED_KINDS = (FileName, BlobHash, RunId, WatchId, WorkbenchId)
_UNREDACTED_FIELDS = frozenset(
    {
        # Who is asked.
        "model_id", "provider_id", "endpoint",
        # Where files of people lie: a folder may be called what somebody's key is.
        "source_path", "source_name", "path", "moved_from", "folder", "patterns", "deliver_to",
        "delivered", "directory", "final_name", "segment", "kept_as",
        # What is started: it is refused with a key in it.
        "on_outcome",
        # What is installed.
        "plugin", "package", "source",
    }
)  # fmt: skip

_encode = msgspec.msgpack.Encoder(enc_hook=str).encode

T = TypeVar("T")


class Redaction:
    """Redaction of the known keys. While there is none it costs nothing.

    Args:
        secrets: The keys, those that become known later included.
    """

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    @property
    def has_keys(self) -> bool:
        """Whether there is any key to redact."""
        return bool(self._secrets.forms)

    def text(self, text: str) -> str:
        """Return a text with `***` for each known key."""
        return self._secrets.redact(text)

    def json_text(self, text: str) -> str:
        """Redact a JSON text, also where a key is written with escapes; it may be ill-formed."""
        found = self.text(text)
        if "\\" not in found or not self.has_keys:
            return found
        try:
            plain = msgspec.json.encode(msgspec.json.decode(found)).decode()
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return found
        clean = self.text(plain)
        return found if clean == plain else clean

    def data(self, data: bytes) -> bytes:
        """Redact bytes; those that hold no key are returned as they are, whatever they are."""
        for form in self._secrets.forms:
            data = data.replace(form.encode(), REDACTED.encode())
        return data

    def settled(self, text: str) -> int:
        """Return the length of a streamed text's beginning that cannot end within a key.

        Behind that a key may begin, or one ends with which a longer one begins.
        """
        forms = self._secrets.forms
        cut = min((_partial_form_start(text, form) for form in forms), default=len(text))
        while True:
            # A form that lies across the cut is found at most its length before it.
            starts = [text.find(form, max(0, cut - len(form) + 1)) for form in forms]
            earlier = [start for start in starts if 0 <= start < cut]
            if not earlier:
                return cut
            cut = min(earlier)

    def event(self, event: T) -> T:
        """Return an event without known keys: the same one where it holds none.

        It is searched as it would be written, which takes microseconds; only where that finds a key
        are its fields looked through.
        """
        if not self.has_keys:
            return event
        try:
            written = _encode(event)
        except (UnicodeEncodeError, OverflowError):
            return event  # The log refuses it.
        if not any(form.encode() in written for form in self._secrets.forms):
            return event
        cleaned: T = self.value(event)
        return cleaned

    def value(self, value: Any) -> Any:
        """Redact plain values and records."""
        match value:
            case Enum():
                return value
            case str():
                return self.text(value)
            case msgspec.Struct():
                return self._record(value)
            case tuple():
                return tuple(self.value(each) for each in value)
            case list():
                return [self.value(each) for each in value]
            case Mapping():
                return {self.value(key): self.value(each) for key, each in value.items()}
            case _:
                return value

    def _record(self, record: msgspec.Struct) -> msgspec.Struct:
        hints = get_type_hints(type(record))
        changed: dict[str, Any] = {}
        for name, held in msgspec.structs.asdict(record).items():
            if name not in _UNREDACTED_FIELDS and not _is_unredacted(hints[name]):
                cleaned = self.value(held)
                # A default is left out of the log by its identity.
                if cleaned != held:
                    changed[name] = cleaned
        return msgspec.structs.replace(record, **changed) if changed else record


def _partial_form_start(text: str, form: str) -> int:
    """Return where at the end of a text a form of a key may begin; its length if nowhere."""
    for length in range(min(len(form) - 1, len(text)), 0, -1):
        if text.endswith(form[:length]):
            return len(text) - length
    return len(text)


def _is_unredacted(hint: Any) -> bool:
    """Tell whether a field's type says that its texts are names of ours, or words of a closed set.

    A type that carries both, as a table of file names, is kept as well.
    """
    if hint in _UNREDACTED_KINDS or get_origin(hint) is Literal:
        return True
    return any(_is_unredacted(part) for part in get_args(hint))
