"""Comparison of two versions of a deck.

deck_comparison  what differs, and where places of one version stand in the other
deck_version     one version as it is compared
"""
