"""Store of events: logs as the event loop sees them, their snapshots, and redaction.

    journal         append and read in threads; followers are woken, none polls
    keeper          the single writer of a log: decide, persist, fold, tell
    log_reader      finds events by the outline of a log, from the end, by type, run and time
    line_copy       a readable copy of a part of a log, bounded
    snapshots       the state that a log is folded to, so that a start replays only what came after
    snapshot_files  files of snapshots, read back only if they are whole
    page_file       the older items of a state's long lists, beside its snapshots
    snapshotting    makes snapshots anew while a log grows, in a process of its own
    history         a workbench as it stood after any event
    archive_file    a closed workbench in one compressed file, and back
    archive_shelf   where archives lie, and the steps between a folder and its archive
    blob_marks      the stored blobs that a log does not need
    redaction       known keys, blotted out of what is recorded

The log on disk, which all of this rests on, is `kbd.events`.
"""
