from typing_extensions import disjoint_base

from envpool.rollout.recorder import Recorder

@disjoint_base
class OpponentsRecorder(Recorder): ...
