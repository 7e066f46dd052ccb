"""A provider plugin as a stranger would install it: rules behind a wire that may be down."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import anyio

from kbd import hookimpl
from kbd.errors import ProviderUnavailable
from kbd.providers import Access, Emit, ModelReply, ModelRequest, Provider, ProviderStatus
from kbd_offline import OfflineProvider

__all__ = ["DOWN", "install", "kbd_register_providers"]

DOWN = "FARAWAY_DOWN"
"""The variable that names a file; while it is there, every call fails."""


class FarawayProvider(OfflineProvider):
    """The offline provider, said to be elsewhere: consent is needed, and it can be out of reach."""

    name: ClassVar[str] = "faraway"

    def status(self) -> ProviderStatus:
        """Return that what is sent leaves the machine."""
        return ProviderStatus(configured=True, leaves_machine=True, auth_mode="none")

    async def complete(self, request: ModelRequest, access: Access, emit: Emit) -> ModelReply:
        """Make one turn, unless the wire is down."""
        if await anyio.Path(os.environ[DOWN]).exists():
            raise ProviderUnavailable("the provider failed (503): down for a while.")
        return await super().complete(request, access, emit)


@hookimpl
def kbd_register_providers() -> Sequence[Provider]:
    """Offer it."""
    return [FarawayProvider()]


def install(folder: Path) -> str:
    """Install the plugin in a folder, and return how a daemon begins that finds it there."""
    about = folder / "kbd_faraway-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Name: kbd-faraway\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[kbd]\nfaraway = whole.faraway\n")
    return f"sys.path.extend({[str(folder), str(Path(__file__).resolve().parent.parent)]!r})"
