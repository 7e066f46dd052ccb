"""Comparison of two versions of a deck.

    deck_comparison  what differs, and where places of one version stand in the other
    deck_matches     which slides and shapes of two versions are the same
    deck_version     one version as it is compared
    slide_changes    what differs on a slide

Automatic styles have names that each save gives anew: they count as what they say.
"""
