"""Domain model: state and decisions. Pure: no I/O, no clock, no event loop.

State is folded from events:

    workbench_state, run_state, watch_state, daemon_state   the records
    fold, fold_runs, fold_watches                           a table by type of event, nothing else
    state_text                                              what people read of it

Events in words, once for all who tell of them:

    event_context   the phase, item and call that an event belongs to
    event_text      an event as one sentence; `run_text` has those of runs
    event_place     where an event stands in its run, and whether it failed
    event_phrases   what such sentences are made of

A decision is a pure function of state and command. It returns events or raises a `KbdError`; the
Keeper of `kbd.core.store` records what it returns:

    commands             everything that can be asked of a workbench, as one closed union
    decide               the one `match` over them
    decision             what is returned; what all decisions ask of the active run
    file_decisions       files and consent
    context_decisions    what every run is told
    run_decisions        messages and runs
    call_decisions       tool calls
    draft_decisions      discard, confirm, publish
    rewind_decisions     an earlier moment brought back
    fork_decisions       what a new workbench takes over
    daemon_decisions     the daemon's own log: workbenches, the day's money
    watch_decisions      watched folders and the runs on what landed
"""
