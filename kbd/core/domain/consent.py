"""Consent to egress: the hash that says what a person agreed to send."""

import hashlib

from kbd.core.domain.workbench_state import WorkbenchState

__all__ = ["scope_hash"]


def scope_hash(state: WorkbenchState, model_id: str) -> str:
    """Return the hash of the names and contents that people added, their context, and the model.

    What runs made of them adds nothing that was not agreed to, so publishing asks for no new
    consent; adding a file, writing another context item or choosing another model does. A workbench
    without context items has the hash that it always had: what was agreed to before holds.
    """
    digest = hashlib.sha256(model_id.encode())
    for name, entry in sorted(state.files.items()):
        if entry.origin is not None:
            # NUL stands in no name, so no name can imitate another's end.
            digest.update(f"\0{name}\0{entry.origin}".encode())
    for category, item in sorted(state.context.items()):
        # No file has an empty name, so no file can be taken for a context item.
        content = hashlib.sha256(item.text.encode()).hexdigest()
        digest.update(f"\0\0{category}\0{content}".encode())
    return digest.hexdigest()
