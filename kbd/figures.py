"""Formatting for people: sizes, durations, amounts of money, counts of things, names of clients.

The words of the log (`kbd.core.domain.event_text`) and the command line write them alike.
"""

__all__ = ["client_text", "counted", "duration", "money", "size"]


def size(count: int) -> str:
    """Format a number of bytes."""
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"


def client_text(client: str, version: str = "") -> str:
    """Format who asked for something: `kbd publish`, `my-page 1.2`.

    Args:
        client: The client's name.
        version: Its version; of kbd's own clients it says nothing that a reader wants.
    """
    is_own = client == "kbd" or client.startswith("kbd ")
    return f"{client} {version}" if version and not is_own else client


def counted(count: int, noun: str) -> str:
    """Format a number of things, in the singular or the plural."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def duration(seconds: float) -> str:
    """Format a length of time."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (rest, "s"))
    return " ".join([f"{count} {unit}" for count, unit in parts if count][:2])


def money(dollars: float) -> str:
    """Format an amount of US dollars: to the cent, below a dollar to a hundredth of one."""
    return f"${dollars:,.4f}" if 0 < dollars < 1 else f"${dollars:,.2f}"
