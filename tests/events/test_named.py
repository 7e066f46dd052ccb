"""The blobs that events name: none is forgotten when a field is added."""

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from kbd.events import VERSIONS
from kbd.events.retention import BlobsCollected
from kbd.events.vocabulary import named_blobs
from kbd.types import BlobHash
from logs.make_golden import ADDED, EVENTS, A, B, C

EXAMPLES = (*EVENTS, *(event for commit in ADDED for event in commit))


def names_blobs(kind: Any) -> bool:
    """Whether a type has a BlobHash in it, however deep."""
    if kind is BlobHash:
        return True
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return any(names_blobs(hint) for hint in get_type_hints(kind).values())
    return any(names_blobs(part) for part in get_args(kind))


def strings(value: Any) -> Iterator[str]:
    """All texts in plain values."""
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from strings(part)
        case list() | tuple():
            for part in value:
                yield from strings(part)


@pytest.mark.parametrize("kind", sorted(VERSIONS, key=str), ids=lambda kind: kind.__name__)
def test_every_event_with_a_blob_names_it(kind: type) -> None:
    """Of each type with a blob in its fields, all hashes of the golden examples are named.

    One type has blobs of which it says that they are gone: it names none.
    """
    examples = [event for event in EXAMPLES if type(event) is kind]
    named = {blob for event in examples for blob in named_blobs(event)}
    held = {text for event in examples for text in strings(msgspec.to_builtins(event))}
    assert names_blobs(kind) == bool(held & {A, B, C})
    assert named == (set() if kind is BlobsCollected else held & {A, B, C})
