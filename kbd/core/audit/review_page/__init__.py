"""A draft's review as one HTML page, and as pieces of markup that other hosts embed.

Read `records` first: what a page is made of, the answers that clients get. `document` is the page
as a whole, `file_view` one file, `change_view` one change, `grid_view` the cells around changes;
`neighborhood` finds which cells those are. `gather` asks for all of it. Everything that comes from
files, models and tools is hostile and becomes markup in `kbd.core.audit.html` only.

`page.html`, `page.css` and `page.js` lie beside. The page is a document that the script makes
handier: it walks from change to change, and filters.
"""
