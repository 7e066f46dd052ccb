"""Office files made of XML in a package: what their formats do alike, on top of `kbd.opc`.

    part_copier  parts of one package go into another, with all that they are related to

A format plugin brings what truly differs (its elements, its places, its operations) and takes the
rest from here. Only modules that a worker preloads import it.
"""

from kbd.office.part_copier import PartCopier, has_macros

__all__ = ["PartCopier", "has_macros"]
