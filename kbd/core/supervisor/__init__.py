"""What keeps workbenches open and runs under way.

`parts` (what the daemon is assembled from), `opening` (a workbench's log to a live, recovered
Bench), `idle` (whether anybody uses it), `benches` (all open workbenches and the daemon's own log),
`projection` (what people look at follows the log, with `conversation_copy`), `forking` (a workbench
made of another), `searching` (a workbench's search, as one call sees it) and `outside` (whom it
asks; for vectors with `embedding`), `desks` (what a run works with), `runs` (a task for each run,
started by a recorded fact).
"""

from kbd.core.supervisor.benches import Benches
from kbd.core.supervisor.forking import fork_workbench
from kbd.core.supervisor.parts import Parts, Tell
from kbd.core.supervisor.runs import Runs

__all__ = ["Benches", "Parts", "Runs", "Tell", "fork_workbench"]
