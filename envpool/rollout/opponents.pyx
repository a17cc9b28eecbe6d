"""Recording the steps of pools with opponents.

Such a pool merges several batches of the core into one, which it returns to Python: its rows are copied, and the
recorder calls the methods of the pool in place of its parts; see `envpool.pools.opponents`.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int32_t

from envpool._core.actions cimport ActionField
from envpool._core.inputs cimport ResetOptions
from envpool._core.results cimport ResultTemplate
from envpool.rollout.recorder cimport Recorder

from envpool.errors import EnvStepError

cnp.import_array()


cdef class OpponentsRecorder(Recorder):
    """Records the steps of a pool, which may have opponents; see `Recorder`."""

    cdef int send_now(self, object action, object env_id, tuple values, int visit, int activities) except -1:
        if self.shown is None:
            return Recorder.send_now(self, action, env_id, values, visit, activities)
        self.begin_send()
        return self.send_to_games(action, env_id, values, activities)

    cdef int send_to_games(self, object action, object env_id, tuple values, int activities) except -1:
        """Sends actions, and records them and the extras."""
        cdef cnp.ndarray ids
        cdef object pool = self.pool
        cdef object stage = pool._games.stage
        cdef list sources
        cdef int32_t n
        self.check_known("; nothing was sent")
        ids, grids, own = pool._prepared(action, env_id)
        n = <int32_t>ids.shape[0]
        if activities:
            pool._check_fills(n)
        grids = pool._completed(ids, grids)     # opponents may be asked
        self.values = values
        try:
            self.check(<const int32_t*>cnp.PyArray_DATA(ids), n, activities)
        finally:
            self.values = None
        try:
            pool._launch(ids, grids)
        finally:
            if n and stage[ids[0]]:     # also if Ctrl-C has arrived after the send; no Python code runs from here on
                sources = [np.ascontiguousarray(own[(<ActionField>f).name], (<ActionField>f).dtype)
                           for f in self.pool.actions.fields]
                self.record_sent(<const int32_t*>cnp.PyArray_DATA(ids), n, [*sources, *values])
                self.known = self.sent_by_pool()
                self._unanswered = None
        return 0

    cdef object receive_now(self, ResultTemplate template):
        if self.shown is None:
            return Recorder.receive_now(self, template)
        return self.receive_from_games(template is self.reset_template, None)

    cdef object receive_from_games(self, bint reset, object env_ids):
        """Receives the next batch, or the rows of some envs, and records them."""
        cdef object pool = self.pool
        try:
            result, arrays, errors = pool._receive(reset, pool._request(env_id=env_ids))
        except EnvStepError as error:
            self.failed.update(error.failures)
            raise
        finally:
            self.known = self.sent_by_pool()    # opponents have moved
        arrays = tuple([np.ascontiguousarray(a) for a in arrays])
        self.failed.update([int(arrays[self.env_id][row]) for row in errors])
        return self.store((result, arrays))

    cdef int send_resets(self, object env_id, object seeds, ResetOptions options, int visit) except -1:
        if self.shown is None:
            return Recorder.send_resets(self, env_id, seeds, options, visit)
        (<object>self.pool)._send_reset(env_id, seeds, options)
        return 0

    cdef object receive_resets(self, object env_id):
        if self.shown is None:
            return Recorder.receive_resets(self, env_id)
        return self.receive_from_games(True, env_id)
