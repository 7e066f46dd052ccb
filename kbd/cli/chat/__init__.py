"""`kbd chat`: a conversation with a workbench, or with a folder of files, in a terminal or a pipe.

    entry           finds the workbench that is meant, and lets a person or a pipe talk to it
    prompt          the line editor: keys, history, completion
    session         what a conversation knows of itself
    slash_commands  what is typed: a command, or a message
    answer          a message and its answer
    run_view        what a person sees of a run: status, tool calls in full, the answer as it comes
    views           commands that only show something
    review_view     `/review`
    actions         commands that change something
    busy            what a terminal is like while a person waits
    model_names     what a model may be called
    folder          a folder's files, copied in, and what came before

There is one rule for streams: stdout has what was asked for, stderr has everything else.
"""
