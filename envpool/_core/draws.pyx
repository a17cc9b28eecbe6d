# optimize: -O1
"""Parameters that are drawn for each episode, by the thread that resets the env, right before the reset.

Each env draws from a generator of its own, which is derived from the seed of the env: the draws of an env do not depend
on threads or on other envs, and the env's own generator does not advance. For an env with the seed s, the generator is

    np.random.Generator(np.random.PCG64(np.random.SeedSequence([s % 2**32, s >> 32, DRAWS])))

It is seeded when the env first draws after it was seeded itself. An env draws the parameters in the order of its table,
and elements in C order. `Engine.tables`, `streams` and `has_stream` belong to the consumer while an env is idle, and to
the thread that steps it while it is in flight. A ParamDraws never changes, and Orphan.tables keeps those in use alive.
"""

import numpy as np

cimport numpy as cnp
from libc.math cimport exp
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from envpool._core.structs cimport DrawTable, Engine, ParamDraw
from envpool.numerics.rng cimport (
    ep_bounded, ep_next_double, ep_pcg64, ep_pcg64_is_valid, ep_pcg64_seed_words, ep_standard_normal,
)

from envpool._core.definition import DTYPES

cnp.import_array()

cdef extern from "envpool/_core/dtypes.h" nogil:
    void ep_put_float(int32_t dtype, void* x, int64_t i, double value)
    void ep_put_integer(int32_t dtype, void* x, int64_t i, uint64_t value)
    double ep_element(int32_t dtype, const void* x, int64_t i)

cdef uint32_t DRAWS = 0x64726177        # follows the seed of the env in the seed of its draws

#: Number of each kind of draw in tables.
KINDS = {
    "uniform": UNIFORM, "loguniform": LOGUNIFORM, "scale": SCALE, "normal": NORMAL, "integers": INTEGERS,
    "choice": CHOICE,
}


cdef const void* kept(list arrays, values, dtype) except? NULL:
    """Appends a copy of values to a list, and returns its memory; NULL for None."""
    cdef cnp.ndarray array
    if values is None:
        return NULL
    array = np.array(values, dtype, order="C")
    arrays.append(array)
    return cnp.PyArray_DATA(array)


cdef class ParamDraws:
    """How parameters are drawn.

    Parameters
    ----------
    ranges : object
        Specification of the draws.
    draws : sequence of Draw
        See `envpool.config.randomize.Draw`: the values are checked, and have the shapes and the dtype of the parameter.
    """

    def __cinit__(self, ranges, draws):
        cdef ParamDraw* d
        self.ranges = ranges
        self.arrays = []
        self.table.num_draws = <int32_t>len(draws)
        self.table.draws = <ParamDraw*>calloc(max(len(draws), 1), sizeof(ParamDraw))
        if self.table.draws == NULL:
            raise MemoryError
        for k, given in enumerate(draws):
            d = &self.table.draws[<int>k]
            d.param, d.kind, d.is_shared = given.param, KINDS[given.kind], given.is_shared
            d.dtype = DTYPES.index(given.nominal.dtype)
            d.items = given.nominal[0].size
            d.first = <const double*>kept(self.arrays, given.first, np.float64)
            d.second = <const double*>kept(self.arrays, given.second, np.float64)
            d.low = <const double*>kept(self.arrays, given.low, np.float64)
            d.high = <const double*>kept(self.arrays, given.high, np.float64)
            d.least = <const int64_t*>kept(self.arrays, given.least, np.int64)
            d.span = <const uint64_t*>kept(self.arrays, given.span, np.uint64)
            d.choices = <const char*>kept(self.arrays, given.choices, given.nominal.dtype)
            d.num_choices = 0 if given.choices is None else len(given.choices)
            d.nominal = <const char*>kept(self.arrays, given.nominal, given.nominal.dtype)
            d.nominal_stride = 0 if len(given.nominal) == 1 else given.nominal[0].nbytes

    def __dealloc__(self):
        free(self.table.draws)


# ---- drawing ---------------------------------------------------------------------------------------------------------

cdef inline void seed_stream(const Engine* e, int32_t id, ep_pcg64* stream) noexcept nogil:
    cdef uint32_t[3] words
    words[0] = <uint32_t>e.seeds[id]
    words[1] = <uint32_t>(e.seeds[id] >> 32)
    words[2] = DRAWS
    ep_pcg64_seed_words(stream, words, 3)


cdef inline double clipped(double value, double low, double high) noexcept nogil:
    return low if value < low else high if value > high else value


cdef inline double random_of(const ParamDraw* d, ep_pcg64* stream) noexcept nogil:
    return ep_standard_normal(stream) if d.kind == NORMAL else ep_next_double(stream)


cdef inline double value_of(const ParamDraw* d, int64_t i, double x, const void* nominal) noexcept nogil:
    """Returns element i for a random number. Rounding and unlikely numbers do not take it out of its bounds."""
    if d.kind == NORMAL:
        return clipped(d.first[i] + d.second[i] * x, d.low[i], d.high[i])
    x = d.first[i] + (d.second[i] - d.first[i]) * x
    if d.kind == LOGUNIFORM:
        x = exp(x)
    x = clipped(x, d.low[i], d.high[i])
    return ep_element(d.dtype, nominal, i) * x if d.kind == SCALE else x


cdef void draw(const ParamDraw* d, int32_t id, ep_pcg64* stream, char* row, int64_t row_bytes) noexcept nogil:
    """Draws the value of one parameter."""
    cdef const void* nominal = d.nominal + id * d.nominal_stride
    cdef double x = 0
    cdef int64_t i
    if d.kind == CHOICE:
        memcpy(row, d.choices + <int64_t>ep_bounded(stream, <uint64_t>(d.num_choices - 1)) * row_bytes, row_bytes)
    elif d.kind == INTEGERS:
        for i in range(d.items):
            ep_put_integer(d.dtype, row, i, <uint64_t>d.least[i] + ep_bounded(stream, d.span[i]))
    else:
        for i in range(d.items):
            if i == 0 or not d.is_shared:
                x = random_of(d, stream)
            ep_put_float(d.dtype, row, i, value_of(d, i, x, nominal))


cdef void draw_params(Engine* e, const int32_t* ids, int32_t n) noexcept nogil:
    """Writes the parameters of the next episodes to the rows of envs with a table, which have those of the last ones.
    """
    cdef ep_pcg64* stream
    cdef const DrawTable* table
    cdef const ParamDraw* d
    cdef int64_t row
    cdef int32_t i, k
    for i in range(n):
        table = e.tables[ids[i]]
        if table == NULL:
            continue
        stream = <ep_pcg64*>e.streams + ids[i]
        if not e.has_stream[ids[i]]:
            seed_stream(e, ids[i], stream)
            e.has_stream[ids[i]] = 1
        for k in range(table.num_draws):
            d = &table.draws[k]
            row = e.param_bytes[d.param]
            draw(d, ids[i], stream, <char*>e.param_values[d.param] + ids[i] * row, row)


# ---- saved states ----------------------------------------------------------------------------------------------------

cdef bint keeps_stream(const Engine* e, int32_t id) noexcept:
    """Whether the state of an env contains a generator. That of an env that is not seeded yet follows from the seed."""
    return e.env_def.num_params > 0 and not e.seed_pending[id] and (e.tables[id] != NULL or e.has_stream[id])


cdef void save_stream(const Engine* e, int32_t id, void* saved) noexcept:
    """Writes the generator of an env, STREAM_BYTES bytes."""
    cdef ep_pcg64 stream
    if e.has_stream[id]:
        stream = (<const ep_pcg64*>e.streams)[id]
    else:
        seed_stream(e, id, &stream)
    memset(saved, 0, STREAM_BYTES)
    memcpy(saved, &stream, sizeof(ep_pcg64))


cdef bint is_stream(const void* saved) noexcept:
    """Whether saved bytes, which may be forged, are a generator from which numbers can be drawn."""
    cdef ep_pcg64 stream
    memcpy(&stream, saved, sizeof(ep_pcg64))
    return ep_pcg64_is_valid(&stream)


cdef void restore_stream(Engine* e, int32_t id, const void* saved) noexcept:
    """Lets an env go on with a saved generator, or with NULL start one from its seed.

    An env of a task without parameters has no use for a generator.
    """
    if e.env_def.num_params:
        e.has_stream[id] = saved != NULL
        if saved != NULL:
            memcpy(<ep_pcg64*>e.streams + id, saved, sizeof(ep_pcg64))


cdef void forget_stream(Engine* e, int32_t id) noexcept nogil:
    """Lets the generator of an env start from the env's new seed."""
    if e.env_def.num_params:
        e.has_stream[id] = 0
