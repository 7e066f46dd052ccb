"""Looking back: what the log says of a run, and the workbench as it stood after any event.

Reads only, and only what is recorded: nothing here is a second authority.
"""

__all__: list[str] = []
