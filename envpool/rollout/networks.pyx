"""Policies whose networks are multilayer perceptrons, without Python code in a step.

The forward pass is that of dense.h. Random numbers are those of a `Sampler`, in the order of the rows.
"""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

from envpool.sampling.draws cimport Draws

from envpool.errors import ConfigError

cnp.import_array()

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
    WORTH_RELEASING = 1 << 19       # multiplications that take much longer than releasing the GIL


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
    """What a policy answers to observations, and the memory that this takes.

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
        if critic is not None:
            self.values = np.empty(capacity, np.float32)
            width = max(width, critic.width)
        self.scratch = np.empty((2, EP_TILE, width), np.float32)

    def of(self, observations):
        """Answer to observations (capacity, ...), which are converted to float32."""
        (<object>self.inputs)[: self.capacity] = observations.reshape(self.capacity, self.policy.actor.inputs)
        self.answer()

    cdef int answer(self) except -1:
        """Fills `actions`, `log_probs` and `values` for the observations that the caller has written to the rows.

        Raises ConfigError if the outputs of a row are no distribution; nothing was drawn.
        """
        cdef Policy policy = self.policy
        cdef Network actor = policy.actor, critic = policy.critic
        cdef const float* x = floats(self.inputs)
        cdef float* out = floats(self.outputs)
        cdef float* scratch = floats(self.scratch)
        cdef float* values = NULL
        cdef int64_t n = self.capacity, cost = n * actor.cost, bad
        if critic is not None:
            values = floats(self.values)
            cost += n * critic.cost
        if cost < WORTH_RELEASING:
            actor.run(x, n, out, scratch)
            if values != NULL:
                critic.run(x, n, values, scratch)
        else:
            with nogil:
                actor.run(x, n, out, scratch)
                if values != NULL:
                    critic.run(x, n, values, scratch)
        if policy.log_std is None:
            bad = policy.draws.choose_rows(
                out, n, actor.outputs, <double*>cnp.PyArray_DATA(self.weights),
                <int64_t*>cnp.PyArray_DATA(self.actions), floats(self.log_probs), floats(self.entropies)
            )
        else:
            bad = policy.draws.normal_rows(
                out, floats(policy.log_std), n, actor.outputs, <double*>cnp.PyArray_DATA(self.weights),
                floats(self.actions), floats(self.log_probs), floats(self.entropies)
            )
        if bad >= 0:
            raise ConfigError(
                f"the actor's outputs are no distribution in row {bad} of the batch: {(<object>self.outputs)[bad]}. "
                f"The weights are finite; the observation is {(<object>self.inputs)[bad]}"
                f"{'' if policy.log_std is None else f', and log_std is {policy.log_std}'}"
            )
        return 0
