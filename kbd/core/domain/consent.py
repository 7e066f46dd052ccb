"""Consent to egress: the hash that says what a person agreed to send."""

import hashlib

from kbd.core.domain.workbench_state import WorkbenchState

__all__ = ["scope_hash"]


def scope_hash(state: WorkbenchState, model_id: str) -> str:
    """Return the hash of the names and contents that people added, their context, and the model.

    What runs made of them adds nothing that was not agreed to, so publishing asks for no new
    consent; adding a file, writing another context item or choosing another model does, and so does
    recovering a draft of a file that was removed or replaced since. A workbench without context
    items has the hash that it always had: what was agreed to before holds.
    """
    digest = hashlib.sha256(model_id.encode())
    for name, entry in sorted(state.files.items()):
        if entry.origin is not None:
            # NUL stands in no name, so no name can imitate another's end.
            digest.update(f"\0{name}\0{entry.origin}".encode())
    for name, drafted in sorted(state.draft.files.items()) if state.draft else ():
        held = state.files.get(name)
        # Of a draft that was recovered: its file was taken away since, or is another one.
        if drafted.base is not None and (
            held is None or drafted.base not in (held.blob, held.origin)
        ):
            digest.update(f"\0{name}\0\0{drafted.base}".encode())
    for category, item in sorted(state.context.items()):
        # No file has an empty name, so no file can be taken for a context item.
        content = hashlib.sha256(item.text.encode()).hexdigest()
        digest.update(f"\0\0{category}\0{content}".encode())
    return digest.hexdigest()
