"""Copies of published files into a folder of the user's, each with intent and outcome."""

from pathlib import Path

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.bench import Bench
from kbd.core.domain.commands import Record
from kbd.core.draft.extract import extract, forget_partial
from kbd.core.draft.names import file_name
from kbd.core.runtime.clock import Clock
from kbd.errors import KbdError, ValidationFailed
from kbd.events.base import FileVersion
from kbd.events.drafts import EffectAborted, EffectDone, EffectIntended
from kbd.requests.workbenches import ExtractResult

__all__ = ["extract_files", "forget_effects"]


async def extract_files(
    bench: Bench, clock: Clock, directory: str, paths: tuple[str, ...] | None
) -> tuple[ExtractResult, ...]:
    """Copy published files to a folder; what cannot be copied is said, the rest is done.

    Args:
        bench: The workbench.
        clock: Names the effects.
        directory: Where, as an absolute path; made if it is not there.
        paths: Which files, or None for all.

    Raises:
        ValidationFailed: The folder is not an absolute path.
    """
    if not Path(directory).is_absolute():
        msg = "destination_dir must be an absolute path"
        raise ValidationFailed(msg)
    wanted = paths if paths is not None else tuple(sorted(bench.state.files))
    results: list[ExtractResult] = []
    for path in wanted:
        # Between two files a client may go away; within one, intent and outcome belong together.
        await anyio.lowlevel.checkpoint()
        with anyio.CancelScope(shield=True):
            results.append(await _extract(bench, clock, directory, path))
    return tuple(results)


async def forget_effects(bench: Bench) -> None:
    """Close what a stopped daemon had begun; half-written files are removed.

    Deliveries stay open: the job that they belong to is gone on with, and finds out about them. It
    may have to wait for a disk that is not there, and a start does not.
    """
    for effect in tuple(bench.state.effects.values()):
        if effect.kind == "deliver":
            continue
        await run_sync(forget_partial, effect)
        aborted = EffectAborted(effect.effect_id, "the daemon stopped meanwhile")
        await bench.keeper.submit(Record((aborted,)))


async def _extract(bench: Bench, clock: Clock, directory: str, path: str) -> ExtractResult:
    try:
        name = file_name(path)
    except KbdError as error:
        return ExtractResult(workbench_path=path, status="skipped", reason=error.message)
    entry = bench.state.files.get(name)
    if entry is None:
        reason = "not published" if bench.state.seen(name) else "no such file"
        return ExtractResult(workbench_path=path, status="skipped", reason=reason)
    effect = EffectIntended(
        effect_id=clock.new_id(),
        kind="extract",
        directory=directory,
        file=FileVersion(name, entry.blob, entry.size_bytes),
    )
    await bench.keeper.submit(Record((effect,)))
    try:
        final = await run_sync(extract, effect, bench.blobs.path(entry.blob))
    except KbdError as error:
        await bench.keeper.submit(Record((EffectAborted(effect.effect_id, error.message),)))
        return ExtractResult(workbench_path=path, status="failed", reason=error.message)
    await bench.keeper.submit(Record((EffectDone(effect.effect_id, final),)))
    return ExtractResult(
        workbench_path=path,
        status="extracted",
        final_path=str(Path(directory, final)),
        reason=msgspec.UNSET,
    )
