"""New PDF files from what others have: pages put together and turned, forms filled in.

`operations` has the records that a model gives, `apply` carries them out on a draft of the file,
`page_sets` takes pages over and tells what cannot come along, `form_values` gives fields of a form
values. What was there is only read.
"""
