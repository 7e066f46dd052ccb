"""Looking back: what the log says of a run, and the workbench as it stood after any event.

Reads only, and only what is recorded: nothing here is a second authority.

Read in this order: `steps` (a run's steps) with `span` (which events it tells) and `step_parts`
(the records that a step holds); then `moments` (the state at an event) and `page` (a run as a page
to read in a browser).
"""

__all__: list[str] = []
