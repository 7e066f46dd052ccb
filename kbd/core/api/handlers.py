"""The table of all methods."""

from kbd.core.api.administration import DaemonMethods
from kbd.core.api.archives import BackupMethods, CaseMethods
from kbd.core.api.context import Shop, holding
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
from kbd.requests.base import Request

__all__ = ["handlers"]


def handlers(shop: Shop) -> dict[type[Request], Handler]:
    """Return what answers each request: kbd's own and those that formats contribute."""
    table: dict[type[Request], Handler] = {}
    for subject in (
        DaemonMethods(shop),
        ProviderMethods(shop),
        WorkbenchMethods(shop),
        ForkMethods(shop),
        FileMethods(shop),
        ContextMethods(shop),
        WorkshopMethods(shop),
        ConversationMethods(shop),
        WorkspaceMethods(shop),
        DraftMethods(shop),
        CheckpointMethods(shop),
        EgressMethods(shop),
        LogMethods(shop),
        ReplayMethods(shop),
        ProofMethods(shop),
        WatchMethods(shop),
        FormatMethods(shop),
        CaseMethods(shop),
        BackupMethods(shop),
    ):
        table.update(subject.table())
    return holding(shop.benches, table)
