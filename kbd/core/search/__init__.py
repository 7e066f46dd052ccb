"""Search over documents: text in pieces, an index of words and vectors, and the tools over it.

    engine           `WorkspaceEngine`: the documents of a folder, their index, what is searched
    records          `Document` and `Chunk`, as the library tells of them
    ports            what an engine is given: files, a reader of their text, an embedder
    local            the ports of a library's own process; `call_reader` those of the daemon
    engine_pool      the engines that are open, one a workbench
    folder           the documents of a folder
    documents_table  documents and their pieces in an index
    index, index_file  an open index, and its file
    update           what is new or changed is read, what is gone is taken out
    tokenizer        text becomes terms of an index, a question a safe expression
    stop_words       words that say nothing of a text's subject
    vector_index     vectors of an index, in memory for comparison
    embedding        an engine's embedder
    query            from a question to the pieces that are nearest
    ranking          what words and what meanings found, in one order
    summary          an extractive summary; `sentences` and `text_tables` are what it picks from
    document_names   which document an id or a title means
    lookup           a workbench's documents as one call sees them
    tools            the tools by which an agent works with documents
    text_model       any object with `generate()` as a model

`kbd.core.workspace` is the public face of the library.
"""
