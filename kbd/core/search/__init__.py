"""Search over documents: text in pieces, an index of words and vectors, and the tools over it.

    engine           `WorkspaceEngine`: the documents of a folder, their index, what is searched
    documents        `Document` and `Chunk`, records of the workspace API; found by id or title
    ports            ports of an engine: list of files, reader of their text, embedder
    local            the ports of a library's own process; `lookup` has the daemon's
    engine_pool      pool of open engines, one per workbench
    folder           the documents of a folder
    documents_table  documents and their pieces in an index
    index_file       the file of an index: created, opened, replaced
    index            an open index, and its update
    tokenizer        text becomes terms of an index, a question a safe expression; stop words
    vector_index     vectors of an index, in memory for comparison
    embedding        an engine's embedder
    query            the pieces nearest to a query
    ranking          hits of words and of vectors in one order
    summary          an extractive summary, of the sentences of a text and its `text_tables`
    lookup           a workbench's documents as one call sees them
    tools            the tools by which an agent works with documents
    text_model       any object with `generate()` as a model

`kbd.core.workspace` is the public face of the library.
"""
