"""Mapping and reading."""
