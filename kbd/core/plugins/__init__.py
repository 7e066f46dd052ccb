"""Plugins: their discovery, their contributions, and the processes that their code runs in.

    hooks          which plugins are installed; a package's hooks, called alone and in time
    schemas        JSON schemas of tools' arguments
    wire_methods   the methods that a format contributes
    loading_trial  those that cannot be loaded because that ends the process
    host           loads each plugin on its own, checks what it declares, keeps its status
    catalog        what they brought, by name
    faults         what plugins did wrong while the daemon runs; who is left out for it
    running_code   whose code runs in the daemon at this moment, for its next start
    guards         their code in the daemon, step by step; what it does wrong is a typed error

A call to a format's handler or a tool's own work never runs in the daemon's process.

    worker_pool      the workers of all plugins; one function of one plugin, in a process
    call_outcomes    what the end of a call means: its value, or its caller's error
    set_aside        what killed its workers and is read no more, and whose fault a death is
    worker_process   one zygote, seen from the daemon
    zygote           the process that calls are forked from, one a plugin
    spare_process    a fork made ahead, which warms up and waits for the next call
    forked_call      one call: confine itself, work, answer, die
    confinement      what holds a call: files by Landlock, system calls by a filter
    call_paths       what a call may reach, and where its outputs land
    call_slots       how many calls are under way at once
    worker_messages  what passes between them
    answer_shape     what an answer may consist of, counted before it is decoded
    worker_entry     what a call runs for a format
    worker_calls     how a format's worker is called for a file
    review_calls     comparisons, grids and pages, as the review calls them
    rebase_calls     operations carried over and lines merged, as a rebase calls them
    format_calls     a format's other capabilities as tools and the daemon call them
    programs         programs of the machine that tools start
    renderer         the office program that prints documents, and what it has printed
    print_job        one print: a copy, a profile, the program and its end
    packed_comparison  a comparison in pieces that hold nobody up
    derived_cache    maps, short texts and comparisons that are kept by content
    pieces           text cut for an index, and parts of a long text
"""
