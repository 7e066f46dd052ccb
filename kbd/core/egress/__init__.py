"""The one door out: which model, whose consent, which address, and no key in sight.

    scope      what consent is about, as a hash
    models     which providers and models there are, which one is meant, what it is like
    embedders  what makes texts vectors for the search, or why nothing does
    told       what a model says, with known keys blotted out while it streams
    crossing   what is lent for one call, each request recorded before it leaves
    door       `Egress`: whose consent, and one call at a time

Nothing is sent to a provider that leaves this machine unless a person agreed to these files, as
they are, for this model at this address, or to everything. A client that is lent can reach the
provider's address and no other, follows no redirect, and has each request recorded before it
leaves.
"""

from kbd.core.egress.crossing import RecordSent
from kbd.core.egress.door import Egress
from kbd.core.egress.embedders import ChosenEmbedder, DescribedEmbedder
from kbd.core.egress.models import OFFLINE_MODEL, Models
from kbd.core.egress.scope import scope_hash

__all__ = [
    "OFFLINE_MODEL",
    "ChosenEmbedder",
    "DescribedEmbedder",
    "Egress",
    "Models",
    "RecordSent",
    "scope_hash",
]
