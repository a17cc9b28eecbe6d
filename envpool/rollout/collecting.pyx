"""Collecting rollouts with a policy in native code.

In a sync pool whose observations nothing changes after the workers have written them, the workers also compute the
outputs of the networks, while the rows are in their caches. Otherwise, and if that is too little work for several
threads, the calling thread does. The actions are the same: each row is computed by itself, and the calling thread draws
them in the order of the rows.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from envpool._core.guard cimport NOTHING_ELSE, RECEIVING, WAITING
from envpool._core.results cimport ResultTemplate
from envpool.rollout.networks cimport Answers, Policy
from envpool.rollout.recorder cimport Recorder, row

from envpool.errors import ConfigError, EnvIdError

cnp.import_array()

# Dtypes of observations that a policy takes.
OBSERVATIONS = (np.float32, np.float64, np.uint8, np.bool_)


cdef int read_observations(Recorder r, int k, object env_ids, Answers answers) except -1:
    """Passes the observations of envs, which array k has, on to a policy. None: all envs, in order."""
    cdef cnp.ndarray array
    cdef const int32_t* ids = NULL
    cdef int64_t i, id, size = r.layout.tracks[k].row_bytes // answers.policy.actor.inputs
    if env_ids is not None:     # users can write to `received`, and reshape it
        array = env_ids
        if (not cnp.PyArray_ISCARRAY_RO(array) or cnp.PyArray_TYPE(array) != cnp.NPY_INT32
                or cnp.PyArray_SIZE(array) != answers.capacity):
            raise EnvIdError("received must be the ids of envs as they were received: do not change it")
        ids = <const int32_t*>cnp.PyArray_DATA(array)
    for i in range(answers.capacity):
        id = i if ids == NULL else ids[i]
        if not 0 <= id < r.num_envs:
            raise EnvIdError(f"received[{i}] must be the id of an env, got {id}: do not change it")
        answers.read(i, row(r, k, r.lengths[id], id), size)
    return 0


cdef int answer(Recorder r, int k, object env_ids, Answers answers) except -1:
    """Lets a policy answer to the observations of envs; see read_observations().

    Raises ConfigError if the outputs of a row are not a valid distribution; nothing was drawn.
    """
    cdef int64_t bad
    if answers.is_computed():
        r._num_ahead += 1
    else:
        read_observations(r, k, env_ids, answers)
        answers.compute()
    bad = answers.draw()
    if bad >= 0:
        read_observations(r, k, env_ids, answers)
        raise answers.refusal(bad)
    return 0


def collect_with(Recorder recorder, Policy policy, str name, shape):
    """Do steps with the actions of a policy until the rollout is full; see ``Rollout.collect``.

    Parameters
    ----------
    recorder : Recorder
        The rollout.
    policy : Policy
        The policy.
    name : str
        Name of the array of observations, of float32, float64, uint8 or bool, with an element for each input of the
        policy.
    shape : tuple of int
        Shape of an action.

    Returns
    -------
    result : tuple or TimeStep or None
        Sync pools: the result of the last step, or None if no step was necessary.
    extras : dict
        Sync pools: the policy's extras for the last observations.
    """
    cdef Recorder r = recorder
    cdef int obs = r.layout.find(name)
    if (obs < 0 or r.layout.tracks[obs].offset < 0 or r.layout.dtypes[obs] not in OBSERVATIONS
            or r.layout.tracks[obs].row_bytes != r.layout.dtypes[obs].itemsize * policy.actor.inputs):
        raise ConfigError(f"the policy has {policy.actor.inputs} inputs, which array {name!r} does not have")
    return collect_sync(r, policy, obs, shape) if r.is_sync else collect_async(r, policy, obs, shape)


cdef class Acting:
    """A policy, and its answers to a number of observations."""

    cdef Answers answers
    cdef object actions             # in the shape that the pool takes
    cdef dict extras                # by name
    cdef tuple values               # of `extras`, as the rollout stores them; None: to be converted
    cdef bint copies                # the values are copies, which are converted in each step

    def __init__(self, Policy policy, int64_t n, tuple shape):
        self.answers = Answers(policy, n)
        self.actions = (<object>self.answers.actions).reshape(n, *shape)
        self.extras = {"log_prob": self.answers.log_probs}
        if policy.critic is not None:
            self.extras["value"] = self.answers.values

    cdef tuple values_for(self, Recorder r, object env_id):
        """Returns the policy's extras for observations of envs (None: all), as the rollout stores them."""
        if self.values is None or self.copies:
            self.values = r.as_extras(self.extras, True, env_id)
            self.copies = {id(value) for value in self.values} != {id(value) for value in self.extras.values()}
        return self.values


cdef object collect_sync(Recorder r, Policy policy, int obs, tuple shape):
    cdef ResultTemplate template = r.bare_template
    cdef Acting acting = Acting(policy, r.num_envs, shape)
    cdef tuple values
    cdef int visit
    cdef bint ahead = acting.answers.is_much and r.writes_in_place and not r.pool.batches.changes_observations()
    result = r.recv() if r.in_flight else None
    while True:
        r.check_begun()
        answer(r, obs, None, acting.answers)
        if r.is_full:
            return result, acting.extras
        values = acting.values_for(r, None)
        visit = r.enter_pool(WAITING, b"collect")
        try:
            r.check_has_room()
            if r.num_slots == (1 if r.is_finished else r.longest + 1):
                template = r.step_template
            if ahead:
                r.ahead, r.ahead_reads = acting.answers, obs
            r.send_now(acting.actions, None, values, visit, RECEIVING)
            result = r.receive_now(template)
        finally:
            r.ahead = None
            r.leave_pool(visit)


cdef object collect_async(Recorder r, Policy policy, int obs, tuple shape):
    cdef Acting acting = None
    cdef tuple values
    cdef int visit
    cdef bint acts_first = r._needs_actions
    while True:
        if acts_first:
            r.check_begun()
            received = r.received
            n = r.num_envs if received is None else len(received)
            if acting is None or acting.answers.capacity != n:
                acting = Acting(policy, n, shape)
            answer(r, obs, received, acting.answers)
            values = acting.values_for(r, received)
            visit = r.enter_pool(NOTHING_ELSE, b"collect")
            try:
                r.send_now(acting.actions, received, values, visit, NOTHING_ELSE)
            finally:
                r.leave_pool(visit)
        if r.is_full:
            return None, {}
        r.receive_step(r.bare_template)
        acts_first = True
