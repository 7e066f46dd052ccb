"""Samples of the real files: how many of them which tier looks at."""

import pytest

__all__ = ["half_or_all"]

half_or_all = pytest.mark.parametrize(
    "every", [pytest.param(2, id="half"), pytest.param(1, id="all", marks=pytest.mark.soak)]
)
"""A test takes each n-th file, `every`: `make test-full` half of them, `make soak` all."""
