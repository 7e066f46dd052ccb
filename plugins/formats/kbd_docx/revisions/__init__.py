"""Tracked changes: what an edit did written as changes of an author, and changes accepted or not.

Word's markup is a document in two states at once: without what is marked as inserted it is the old
one, without what is marked as deleted the new one (ECMA-376, part 1, 17.13.5).

    marks       the markup itself: content, paragraphs, rows and properties marked as changed
    snapshot    a document as it was, and which of its elements are those of the document now
    runs        runs taken apart, and those that an edit has only divided
    inline      what differs in a paragraph, written as tracked changes
    recorder    what differs in a document, written as tracked changes
    tracker     operations applied and recorded, by the author that each names
    settlement  tracked changes accepted or rejected
"""
