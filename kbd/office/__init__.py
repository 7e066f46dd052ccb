"""Office files made of XML in a package: what their formats do alike, on top of `kbd.opc`.

A format plugin brings what truly differs (its elements, its places, its operations) and takes the
rest from here. Only modules that a worker preloads import it.
"""
