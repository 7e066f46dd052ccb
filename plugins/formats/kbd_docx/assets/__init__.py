"""Styles, headers and pictures of a document, copied into another one.

copy_assets    the call: references in, changes out, all or nothing
target         the document that gets them, the references, the part copier
copy_styles    styles and lists
copy_headers   headers and footers
copy_pictures  pictures
append_document
               the body of a document appended to another one
fragments      pieces made ready to stand in another document
"""
