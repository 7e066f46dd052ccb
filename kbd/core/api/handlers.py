"""Table of all request handlers."""

from kbd.core.api.administration import DaemonMethods
from kbd.core.api.archives import BackupMethods, CaseMethods
from kbd.core.api.commands import holding
from kbd.core.api.context_items import ContextMethods
from kbd.core.api.conversation import ConversationMethods
from kbd.core.api.drafts import CheckpointMethods, DraftMethods
from kbd.core.api.egress import EgressMethods
from kbd.core.api.files import FileMethods
from kbd.core.api.formats import FormatMethods
from kbd.core.api.logs import LogMethods
from kbd.core.api.proofs import ProofMethods
from kbd.core.api.providers import ProviderMethods
from kbd.core.api.replays import ReplayMethods
from kbd.core.api.runs import WorkshopMethods
from kbd.core.api.search import WorkspaceMethods
from kbd.core.api.watches import WatchMethods
from kbd.core.api.workbenches import ForkMethods, WorkbenchMethods
from kbd.core.server.dispatch import Handler
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.runs import RunTasks
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.watch.watcher import Watcher
from kbd.requests.base import Request

__all__ = ["handlers"]


def handlers(
    context: ApiContext, benches: Workbenches, runs: RunTasks, watcher: Watcher
) -> dict[type[Request], Handler]:
    """Return the handler of each request: kbd's own and those that formats contribute."""
    table: dict[type[Request], Handler] = {}
    for subject in (
        DaemonMethods(context, benches),
        ProviderMethods(context, benches),
        WorkbenchMethods(context, benches),
        ForkMethods(context, benches),
        FileMethods(context, benches),
        ContextMethods(context, benches),
        WorkshopMethods(context, benches, runs),
        ConversationMethods(context, benches, runs),
        WorkspaceMethods(context, benches),
        DraftMethods(context, benches),
        CheckpointMethods(context, benches),
        EgressMethods(context, benches),
        LogMethods(context, benches),
        ReplayMethods(benches),
        ProofMethods(context, benches),
        WatchMethods(context, benches, watcher),
        FormatMethods(context, benches),
        CaseMethods(context, benches),
        BackupMethods(context, benches, watcher),
    ):
        table.update(subject.table())
    return holding(benches, table)
