"""One workbench: its files and draft on disk, publish and undo, and the rows of answers.

workbench      `OpenWorkbench`: the Keeper, blobs, files and folders of an open workbench
sandbox        relative file names, and the confined root below which they are opened
sources        files of a client's own that are copied in
file_store     `published/` and `draft/`: projections of the log that people look into; blobs
call_files     the files that one tool call sees, and what it writes
active_content what of that runs or fetches, and no person added
destination    folders of a user's that something is led out to
extraction     copies of published files into a folder of the user's
change_set     what a draft changes, file by file
content_diff   what it changes inside a file
lineage        the steps that made a file what it is, from the log
attribution    which of them made each change
rebase_proof   what clashes in a rebase, and whether its result is right
adoption       bytes that somebody put into published/, taken in
blame          which of them touched one place
preview_answers
               answers that show a file: a picture of it, or a grid of its cells
publish        makes the draft's files the published ones, or leaves all as it was
transaction    the files of one publish: staged, swapped in, brought back
receipts       documents that prove what a publish changed, from log and blobs
rewind         undo to a message, and restore of a checkpoint
draft_recovery drafts that ended without being published: back, or as files
conversation, event_rows, rows, approval_rows, notifications
               answers read from state and log; nothing in them changes anything
"""
