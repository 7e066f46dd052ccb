"""Layouts, text styles, themes and pictures of a deck, copied into another one.

copy_assets   the call: references in, changes out, all or nothing; themes
copy_layouts  layouts, with the master and the theme that make their formatting
copy_text     styles of text
copy_images   pictures
asset_refs    references to assets, and the assets that they mean in a deck
target        the deck that gets them, and what copies parts with all that belongs to them
"""
