"""The methods: what answers each request, a file a subject.

Each subject is a class that holds the parts it needs and a table from request to method. Plain
functions answer from state at once; coroutines wait for the log, the disk or a run.
"""

from kbd.core.methods.shop import Shop
from kbd.core.methods.table import handlers

__all__ = ["Shop", "handlers"]
