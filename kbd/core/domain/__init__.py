"""The domain: what is true, and what may happen. Pure: no I/O, no clock, no event loop.

State is folded from events: `workbench_state`, `run_state`, `watch_state` and `daemon_state` are
the records, `fold`, `fold_runs` and `fold_watches` the functions, a table by type of event;
`state_text` is what people read of it. A decision is a pure function of state and command that
returns events or raises a `KbdError`: `commands` are what can be asked of a workbench, `decide` is
the one `match` over them, and each subject has its module beside it. The Keeper of
`kbd.core.store` records what they return.
"""
