"""One workbench: its files and draft on disk, what a person decides about them, what clients read.

workbench      `Bench`: the Keeper, blobs, files and folders of an open workbench
sandbox        relative names, and the one confined root below which they are opened
file_store     `published/` and `draft/`: projections of the log that people look into
blobs          bytes by their hash, read and put in threads
call_files     what one tool call sees of the files, and what it writes
extraction     copies of files into a folder of the user's
publish        a draft becomes the published files
rewind         an earlier moment is brought back
change_set, conversation, event_rows, listings, notifications, run_rows, watch_rows
               answers read from state and log; nothing in them changes anything
"""
