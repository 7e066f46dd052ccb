"""What all benchmarks share: candidates side by side in random order, medians, ratios, gates."""

import random
import statistics
from collections.abc import Callable, Mapping

__all__ = ["gate", "interleave", "table"]


def interleave(candidates: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Run each candidate once a round, in an order of its own each time, so that noise is shared.

    Args:
        candidates: By name, a function that does a slice of work and returns its figure.
        rounds: How many rounds count; one more goes before them to warm up.

    Returns:
        The median figure of each.
    """
    order = random.Random(1)
    figures: dict[str, list[float]] = {name: [] for name in candidates}
    for turn in range(rounds + 1):
        for name in order.sample(list(candidates), len(candidates)):
            figure = candidates[name]()
            if turn:
                figures[name].append(figure)
    return {name: statistics.median(found) for name, found in figures.items()}


def table(title: str, unit: str, figures: Mapping[str, float], base: str) -> None:
    """Print each candidate's figure and its ratio to the base's."""
    print(f"\n{title}")
    for name, figure in figures.items():
        print(f"  {name:<34} {figure:>14,.2f} {unit:<10} {figure / figures[base]:>7.2f} x {base}")


def gate(what: str, value: float, *, least: float | None = None, most: float | None = None) -> bool:
    """Print a goal of facts/performance.md with whether it is met; return that."""
    met = (least is None or value >= least) and (most is None or value <= most)
    goal = f">= {least}" if least is not None else f"<= {most}"
    print(f"  {'met   ' if met else 'MISSED'} {what}: {value:.2f} (gate {goal})")
    return met
