"""Domain model: state and decisions. Pure: no I/O, no clock, no event loop.

State is folded from events:

    workbench_state, run_state, watch_state, daemon_state   the records
    fold, fold_conversation, fold_runs                      a table by type of event, nothing else
    long_lists                                              lists that grow for ever, in pages
    log_outline                                             what a log's events are, block by block
    state_text                                              what people read of it

Events in words, once for all who tell of them:

    event_context   the phase, item and call that an event belongs to, and its place in the run
    event_text      an event as one sentence
    watch_text      watched folders, in words
    found_damage    damage that verifications found, and its words
    restore_text    a restore, and what a person confirmed after it, in words
    approval_text   what waits for a person, in words
    runnable_files  which files run, or are obeyed, by their name or beginning
    lineage         the steps by which each file's content came to be

A decision is a pure function of state and command. It returns events or raises a `KbdError`; the
Keeper of `kbd.core.store` records what it returns:

    commands             everything that can be asked of a workbench, as one closed union
    decide               the one `match` over them
    decision             what is returned; what all decisions ask of the active run
    workbench_decisions  files, consent, context items, the draft, forks
    approval_decisions   what waits for a person, and what a person's answer leads to
    consent              the hash that says what a person agreed to send
    run_decisions        messages, runs and their tool calls
    rebase_decisions     a draft applied again to what is published now
    rewind_decisions     an earlier moment brought back
    recover_decisions    a draft that ended brought back
    retention            what holds a workbench, and when it is archived and removed
    daemon_decisions     the daemon's own log: workbenches, the day's money
    recipe_state         the recipes that are saved, and what is decided about them
    watch_decisions      watched folders and the runs on what landed
"""
