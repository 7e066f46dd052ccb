"""What a user of FastAPI writes for the request of benchmarks/rpc.py; uvicorn serves it.

The method is `async`, so that it runs in the loop: a plain one goes to a thread and takes twice as
long.
"""

from fastapi import FastAPI
from pydantic import BaseModel

__all__ = ["Fast", "Sum", "app"]


class Fast(BaseModel):
    """What is asked."""

    number: int
    text: str


class Sum(BaseModel):
    """What is answered."""

    number: int


app = FastAPI()


@app.post("/fast")
async def fast(request: Fast) -> Sum:
    """Answer the next number."""
    return Sum(number=request.number + 1)
