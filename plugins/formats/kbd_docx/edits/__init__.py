"""Carrying out operations."""
