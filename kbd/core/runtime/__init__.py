"""Runtime services under all rooms of the core: event loop, time, folders, settings, keys.

    clock          time and fresh ids
    stopped_time   the clock of deadlines, which stands while the process is stopped
    held_folder    folders held open, and what is opened below them through no link
    folder_trees   folders that somebody else has filled, measured and removed
    paths          `$KBD_HOME`, its folders and those of each workbench
    home_lock      who has a home: a daemon or a repair alone, or checks together
    private_files  files of an older kbd, made their owner's alone
    own_output     what is written to descriptors 1 and 2, told in the log
    settings       `settings.toml` and the environment
    secrets        API keys: where they come from, and how they stay hidden
    hosts          hosts and ports in one spelling
    module_process a process that runs a module of kbd's own
    activity       whether the daemon does something for somebody
    restarts       tasks that should never end, begun anew where they fail
    process_tree   processes below a process, found and killed
    diagnostics    the daemon's own log for its operator
    log_file       the file that it goes to in the background, rotated
    sd_notify      what the service manager is told, and its watchdog
    fairness       what clients share, taken in turn
    peers          who connected, and whether the daemon has started them
    event_loop     readiness of descriptors and threads, a cheap condition, answers that come later

Nothing here knows of workbenches, runs or plugins.
"""
