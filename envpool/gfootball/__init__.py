"""Google Research Football: games and exercises of football, with the engine of gfootball 2.10.2.

The folder ``engine`` builds the engine from the pinned source distribution. Everything else of upstream's environment
is implemented here: scenarios, the steps of episodes, observations and rewards.
"""

from envpool.pools.classes import classes_of

__getattr__ = classes_of(__name__)
