"""ViZDoom: first-person tasks in the engine of Doom, which the vizdoom package contains.

Each environment has an engine process of its own. The folder ``engine`` speaks the protocol by which the package's own
library drives its engines: message queues and shared memory.
"""

from envpool.pools.classes import Variant, classes_of

__getattr__ = classes_of(__name__, Vizdoom=Variant("ViZDoom"))
