"""Search over documents: text in pieces, an index of words and vectors, and the tools over it.

    engine           `WorkspaceEngine`: the documents of a folder, their index, what is searched
    records          `Document` and `Chunk`, the records of the workspace API
    ports            ports of an engine: list of files, reader of their text, embedder
    local            the ports of a library's own process; `call_reader` those of the daemon
    engine_pool      pool of open engines, one per workbench
    folder           the documents of a folder
    documents_table  documents and their pieces in an index
    index, index_file  an open index, and its file
    update           reads what is new or changed, removes what is gone
    tokenizer        text becomes terms of an index, a question a safe expression
    stop_words       stop words of nine languages
    vector_index     vectors of an index, in memory for comparison
    embedding        an engine's embedder
    query            the pieces nearest to a query
    ranking          hits of words and of vectors in one order
    summary          an extractive summary; `sentences` and `text_tables` are what it picks from
    document_names   resolution of documents by id or title
    lookup           a workbench's documents as one call sees them
    tools            the tools by which an agent works with documents
    text_model       any object with `generate()` as a model

`kbd.core.workspace` is the public face of the library.
"""
