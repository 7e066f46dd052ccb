"""Whether what landed can be read at all: a run on nothing but damaged files is not made."""

from kbd.core.sessions.parts import Parts
from kbd.core.sessions.run_contexts import open_files, open_formats
from kbd.core.workbench.workbench import Bench
from kbd.errors import FileReadFailed, KbdError
from kbd.formats import Mappable

__all__ = ["refuse_unreadable"]


async def refuse_unreadable(parts: Parts, bench: Bench) -> None:
    """Look into files until one can be read; a file of no known format counts as readable.

    A model that meets a damaged file often says so and changes nothing, which would pass for a run
    with nothing to do. What is looked at here is the map that the run's first prompt shows anyway,
    so nothing is computed twice.

    Args:
        parts: The daemon's.
        bench: The workbench before its first run.

    Raises:
        FileReadFailed: None of them can be read; the message is that of the first.
    """
    files, formats = open_files(parts, bench, published=True), open_formats(parts, bench)
    first: FileReadFailed | None = None
    names = files.names()
    for name in names:
        file = files.get(name)
        try:
            if isinstance(formats.for_name(name), Mappable):
                await formats.map(file)
            else:
                await formats.info(file)
        except FileReadFailed as error:
            first = first or error
        except KbdError:
            return  # A worker that took too long, say: the run will tell.
        else:
            return
    if first is not None:
        more = f" (nor can {len(names) - 1} more)" if len(names) > 1 else ""
        raise FileReadFailed(f"{first.message}{more}", retryable=False)
