"""The code that the daemon ends with tells the worst of what went wrong."""

import pytest

from kbd.core.api.daemon import EXIT_DISK, EXIT_FAILED, _run
from kbd.errors import FileReadFailed
from kbd.events.disk import LogPoisoned

DISK, OTHER = LogPoisoned("fsync failed"), FileReadFailed("the port is taken")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(
    ("errors", "code"),
    [([], 0), ([OTHER], EXIT_FAILED), ([DISK], EXIT_DISK), ([DISK, OTHER], EXIT_DISK)],
)
def test_a_failed_disk_is_told_above_all(backend: str, errors: list[Exception], code: int) -> None:
    """74 after a failed fsync, whatever else failed with it: a restart at once would lose more."""

    async def serve() -> None:
        if errors:
            raise ExceptionGroup("tasks", errors)

    assert _run(serve, backend) == code
