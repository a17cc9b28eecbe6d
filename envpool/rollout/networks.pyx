"""Policies whose networks are multilayer perceptrons, without Python code in a step.

dense.h has the forward pass. Random numbers come from a `Sampler`, in the order of the rows.

The threads of a sync pool can compute the outputs for rows as soon as they have written them, see `ahead_of`. The
calling thread draws the actions, so that no number of threads changes them.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from envpool._core.atomic cimport ep_add_sc64, ep_cas64, ep_load_sc64, ep_pause, ep_store_sc64
from envpool.sampling.draws cimport Draws

from envpool.errors import ConfigError

cnp.import_array()

cdef extern from "stdlib.h" nogil:
    void* aligned_alloc(size_t alignment, size_t size)

cdef extern from "dense.h" nogil:
    enum:
        EP_PANEL
        EP_ROWS
        EP_TILE
    enum:
        EP_LINEAR
        EP_TANH
        EP_RELU
        EP_ELU

    void ep_forward(const ep_dense* layers, int count, const float* x, int64_t rows, float* out, float* scratch,
                    int64_t width)

#: Activations by name.
ACTIVATIONS = {"linear": EP_LINEAR, "tanh": EP_TANH, "relu": EP_RELU, "elu": EP_ELU}

cdef enum:
    WORTH_RELEASING = 1 << 19       # multiplications that take much longer than releasing the GIL, or waking a thread


cdef inline float* floats(cnp.ndarray array) noexcept:
    return <float*>cnp.PyArray_DATA(array)


cdef tuple packed(object weight, object bias, int64_t panels):
    """Returns the weights (panels, inputs, EP_PANEL) and the bias (panels * EP_PANEL) of a layer; see dense.h."""
    outputs, inputs = weight.shape
    padded = np.zeros((panels * EP_PANEL, inputs), np.float32)
    padded[:outputs] = weight
    last = np.zeros(panels * EP_PANEL, np.float32)
    last[:outputs] = bias
    return np.ascontiguousarray(padded.reshape(panels, EP_PANEL, inputs).transpose(0, 2, 1)), last


cdef class Network:
    """A multilayer perceptron in float32, which never changes.

    Parameters
    ----------
    layers : list of tuple
        weight, float32 (outputs, inputs); bias, float32 (outputs,); the name of an activation; and the alpha of "elu".
        At least one layer; each has as many inputs as the one before it has outputs.
    """

    def __init__(self, list layers):
        cdef ep_dense* d
        cdef int k
        self.memory = []
        self.layers = <ep_dense*>calloc(len(layers), sizeof(ep_dense))
        if self.layers == NULL:
            raise MemoryError
        for k, (weight, bias, activation, alpha) in enumerate(layers):
            d = &self.layers[k]
            d.outputs, d.inputs = weight.shape
            d.panels = (d.outputs + EP_PANEL - 1) // EP_PANEL
            d.activation, d.alpha = ACTIVATIONS[activation], alpha
            weights, biases = packed(weight, bias, d.panels)
            d.weights, d.bias = floats(weights), floats(biases)
            self.memory += [weights, biases]
            self.width = max(self.width, d.panels * EP_PANEL)
            self.cost += d.inputs * d.panels * EP_PANEL
        self.num_layers = <int>len(layers)
        self.inputs, self.outputs = self.layers[0].inputs, self.layers[self.num_layers - 1].outputs

    def __dealloc__(self):
        free(self.layers)

    cdef Plan plan(self) noexcept:
        """Returns what ep_forward() needs, which is valid while this object lives."""
        cdef Plan plan
        plan.layers, plan.num_layers, plan.width = self.layers, self.num_layers, self.width
        return plan

    cdef void run(self, const float* x, int64_t rows, float* out, float* scratch) noexcept nogil:
        """Computes the outputs of some rows; see ep_forward()."""
        ep_forward(self.layers, self.num_layers, x, rows, out, scratch, self.width)


cdef class Policy:
    """A network whose outputs are a distribution over actions, and perhaps one that estimates values.

    Parameters
    ----------
    actor : Network
        Its outputs are logits or, with log_std, means.
    critic : Network or None
        It has the inputs of the actor, and one output.
    log_std : numpy.ndarray or None
        float32 (outputs of the actor,), C-contiguous: logarithms of the standard deviations.
    draws : Draws
        The generator.
    """

    def __init__(self, Network actor, Network critic, cnp.ndarray log_std, Draws draws):
        self.actor, self.critic, self.log_std, self.draws = actor, critic, log_std, draws


cdef class Answers:
    """Answers of a policy to observations, and the memory for them.

    Parameters
    ----------
    policy : Policy
        The policy.
    capacity : int
        Number of observations.
    """

    def __init__(self, Policy policy, int64_t capacity):
        cdef Network critic = policy.critic
        outputs, width = policy.actor.outputs, policy.actor.width
        self.policy, self.capacity = policy, capacity
        self.inputs = np.zeros(((capacity + EP_ROWS - 1) // EP_ROWS * EP_ROWS, policy.actor.inputs), np.float32)
        self.outputs = np.empty((capacity, outputs), np.float32)
        self.weights = np.empty(outputs)
        self.log_probs, self.entropies = np.empty((2, capacity), np.float32)
        if policy.log_std is None:
            self.actions = np.empty(capacity, np.int64)
        else:
            self.actions = np.empty((capacity, outputs), np.float32)
        cost = capacity * policy.actor.cost
        if critic is not None:
            cost += capacity * critic.cost
            self.values = np.empty(capacity, np.float32)
            width = max(width, critic.width)
        self.scratch = np.empty((2, EP_TILE, width), np.float32)
        self.is_much = cost >= WORTH_RELEASING

    def of(self, observations):
        """Answer to observations (capacity, ...), which are converted to float32."""
        (<object>self.inputs)[: self.capacity] = observations.reshape(self.capacity, self.policy.actor.inputs)
        self.answer()

    cdef int answer(self) except -1:
        """Fills `actions`, `log_probs` and `values` for the observations that the caller has written to the rows.

        Raises ConfigError if the outputs of a row are not a valid distribution; nothing was drawn.
        """
        cdef int64_t bad
        self.compute()
        bad = self.draw()
        if bad >= 0:
            raise self.refusal(bad)
        return 0

    cdef void compute(self) noexcept:
        """Computes the outputs and the values for the observations in the rows."""
        cdef Network actor = self.policy.actor, critic = self.policy.critic
        cdef const float* x = floats(self.inputs)
        cdef float* out = floats(self.outputs)
        cdef float* scratch = floats(self.scratch)
        cdef float* values = NULL
        cdef int64_t n = self.capacity
        if critic is not None:
            values = floats(self.values)
        if not self.is_much:
            actor.run(x, n, out, scratch)
            if values != NULL:
                critic.run(x, n, values, scratch)
        else:
            with nogil:
                actor.run(x, n, out, scratch)
                if values != NULL:
                    critic.run(x, n, values, scratch)

    cdef int64_t draw(self) noexcept:
        """Fills `actions` and `log_probs` from the outputs.

        Returns -1, or the number of the first row whose outputs are not a valid distribution; then nothing was drawn.
        """
        cdef Policy policy = self.policy
        cdef const float* out = floats(self.outputs)
        cdef double* weights = <double*>cnp.PyArray_DATA(self.weights)
        cdef int64_t n = self.capacity, outputs = policy.actor.outputs
        if policy.log_std is None:
            return policy.draws.choose_rows(
                out, n, outputs, weights, <int64_t*>cnp.PyArray_DATA(self.actions), floats(self.log_probs),
                floats(self.entropies)
            )
        return policy.draws.normal_rows(
            out, floats(policy.log_std), n, outputs, weights, floats(self.actions), floats(self.log_probs),
            floats(self.entropies)
        )

    cdef object refusal(self, int64_t bad):
        """Returns the error for a row whose outputs are invalid. The rows must have the observations."""
        log_std = self.policy.log_std
        return ConfigError(
            f"the actor's outputs are not a valid distribution in row {bad} of the batch: "
            f"{(<object>self.outputs)[bad]}. The weights are finite; the observation is {(<object>self.inputs)[bad]}"
            f"{'' if log_std is None else f', and log_std is {log_std}'}"
        )

    cdef void read(self, int64_t i, const char* source, int64_t item_bytes) noexcept:
        """Writes an observation to row i."""
        cdef int64_t inputs = self.policy.actor.inputs
        as_floats(source, item_bytes, inputs, floats(self.inputs) + i * inputs)

    # ---- ahead -------------------------------------------------------------------------------------------------------

    cdef Ahead* ahead_of(self, const char* rows, int64_t item_bytes, int num_threads) except NULL:
        """Prepares for threads that call compute_rows() with the result, once for each row, while this object lives.

        `rows` are the observations of all rows. At most `num_threads` of these calls run at the same time.
        """
        cdef Ahead* a = &self.ahead
        cdef Network critic = self.policy.critic
        if a.areas == NULL:
            a.actor = self.policy.actor.plan()
            a.outputs = floats(self.outputs)
            a.actor_outputs = self.policy.actor.outputs
            a.width = a.actor.width
            if critic is not None:
                a.critic = critic.plan()
                a.values = floats(self.values)
                a.width = max(a.width, a.critic.width)
            a.inputs = self.policy.actor.inputs
            a.area_floats = (LINE + EP_TILE * (a.inputs + 2 * a.width) + LINE - 1) // LINE * LINE
            a.areas = <float*>aligned_alloc(64, num_threads * a.area_floats * sizeof(float))
            if a.areas == NULL:
                raise MemoryError(f"no memory for {num_threads} threads that run a network of {a.width} units")
            memset(a.areas, 0, num_threads * a.area_floats * sizeof(float))
            a.num_areas = num_threads
        a.rows, a.item_bytes = rows, item_bytes
        ep_store_sc64(&a.computed, 0)
        return a

    cdef bint is_computed(self) noexcept:
        """Returns whether all rows were computed since ahead_of()."""
        return self.ahead.areas != NULL and ep_load_sc64(&self.ahead.computed) == self.capacity

    def __dealloc__(self):
        free(self.ahead.areas)


cdef enum:
    LINE = 16                       # floats of a cache line


cdef void as_floats(const char* source, int64_t item_bytes, int64_t n, float* to) noexcept nogil:
    """Converts n numbers of float32, float64, or uint8 or bool."""
    cdef int64_t j
    if item_bytes == sizeof(float):
        memcpy(to, source, n * sizeof(float))
    elif item_bytes == sizeof(double):
        for j in range(n):
            to[j] = <float>(<const double*>source)[j]
    else:
        for j in range(n):
            to[j] = (<const uint8_t*>source)[j]


cdef float* take_area(Ahead* a) noexcept nogil:
    """Returns an area that no other thread uses. Its first number says that it is taken."""
    cdef int64_t k
    while True:     # there is an area for each thread
        for k in range(a.num_areas):
            if ep_cas64(<int64_t*>(a.areas + k * a.area_floats), 0, 1):
                return a.areas + k * a.area_floats
        ep_pause()


cdef void compute_rows(void* data, int64_t row, int64_t n) noexcept nogil:
    """Computes the outputs and the values for n rows; see Answers.ahead_of()."""
    cdef Ahead* a = <Ahead*>data
    cdef float* area = take_area(a)
    cdef float* x = area + LINE
    cdef float* scratch = x + EP_TILE * a.inputs
    cdef int64_t first = row, k
    while first < row + n:
        k = min(row + n - first, <int64_t>EP_TILE)
        as_floats(a.rows + first * a.inputs * a.item_bytes, a.item_bytes, k * a.inputs, x)
        ep_forward(a.actor.layers, a.actor.num_layers, x, k, a.outputs + first * a.actor_outputs, scratch, a.width)
        if a.values != NULL:
            ep_forward(a.critic.layers, a.critic.num_layers, x, k, a.values + first, scratch, a.width)
        first += k
    ep_store_sc64(<int64_t*>area, 0)
    ep_add_sc64(&a.computed, n)
