"""Which blobs an event names; a test compares this with the types of all fields."""

from collections.abc import Iterator

from kbd.events.drafts import CheckpointCreated, EffectIntended, FileChanged, PublishIntended
from kbd.events.runs import ModelReplied, ModelRequested, ToolCalled, ToolReturned
from kbd.events.workbenches import FileAdded
from kbd.types import BlobHash

__all__ = ["named_blobs"]


def named_blobs(event: object) -> Iterator[BlobHash]:
    """The blobs that must be kept for an event to be worth anything."""
    for blob in _fields(event):
        if blob is not None:
            yield blob


def _fields(event: object) -> tuple[BlobHash | None, ...]:
    match event:
        case FileAdded(blob=blob) | ToolReturned(blob=blob) | ModelRequested(opening=blob):
            return (blob,)
        case ToolCalled(arguments_blob=blob):
            return (blob,)
        case FileChanged(before=before, after=after):
            return (before, after)
        case ModelReplied(calls=calls):
            return tuple(call.blob for call in calls)
        case PublishIntended(files=files):
            return tuple(blob for file in files for blob in (file.old, file.new))
        case CheckpointCreated(files=files):
            return tuple(file.blob for file in files)
        case EffectIntended(file=file):
            return (file.blob,)
        case _:
            return ()
