"""`MLP`: a policy of multilayer perceptrons that a rollout runs in native code."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete

from envpool._support.text import shown
from envpool.errors import ConfigError
from envpool.pools.env_pool import EnvPool
from envpool.rollout.collecting import OBSERVATIONS
from envpool.rollout.networks import ACTIVATIONS, Answers, Network, Policy
from envpool.sampling.arrays import checked
from envpool.sampling.sampler import Sampler, as_sampler

#: A layer: weight, bias, name of the activation and the alpha of "elu".
Layer = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], str, float]

#: The way out, for error texts.
WAY_OUT = "pass collect() a function act(result) instead, which returns actions and extras"
#: Activations of torch that an MLP computes, by the name of the class.
TORCH_ACTIVATIONS = {"Tanh": "tanh", "ReLU": "relu", "ELU": "elu"}
#: Names of the arrays in a dict.
ARRAY_NAME = re.compile(r"(actor|critic)\.(0|[1-9][0-9]*)\.(weight|bias)")


class MLP:
    """A policy of multilayer perceptrons, which ``Rollout.collect`` runs in native code, without Python in a step.

    Pass it to ``rollout.collect(MLP(...), result)`` instead of a function: the networks see the observations in
    float32, actions are drawn as by a `Sampler`, and the rollout records the log-probabilities and values. An MLP may
    also be called: ``action, extras = mlp(result)`` returns the same numbers.

    The networks are copied. Pass new weights on with `update`, once after each update of the learner.

    Parameters
    ----------
    network : torch.nn.Sequential, tuple of two, or mapping
        The actor, or a pair (actor, critic). The actor's outputs are the logits of a Discrete action or, with
        `log_std`, the means of a continuous one; the critic has one output, the value. The layers are modules of
        torch.nn: Linear, Tanh, ReLU and ELU, in float32, also in nested Sequentials; Flatten at the beginning and
        Identity have no effect. Or a dict of arrays, as the ``state_dict()`` of a module with the attributes `actor`
        and `critic` has them: ``"actor.0.weight"``, float32 (outputs, inputs), ``"actor.0.bias"``, (outputs,), and so
        on with increasing numbers; ``"critic.0.weight"``; ``"log_std"``.
    log_std : array_like, optional
        float32 (D,) or (1, D): logarithms of the standard deviations of a continuous action, the same for all
        observations. Actions are not clipped: make the pool with ``clip_action=True``, whose rollout records them as
        they were drawn.
    activation : {"tanh", "relu", "elu"}, optional
        A dict of arrays: what stands between two layers.
    rng : Sampler, numpy.random.Generator or int, optional
        The generator of the actions, or a seed. By default the operating system provides a seed.

    Attributes
    ----------
    sampler : Sampler
        The generator; its pickle contains its state.
    extras : dict of str to dtype
        Extras of each step, for ``Rollout(extras=mlp.extras)``: ``"log_prob"`` and, with a critic, ``"value"``, both
        float32.

    Raises
    ------
    ConfigError, TypeError
        A layer is not one of these, or shapes or dtypes do not fit, or a weight is not finite.

    Notes
    -----
    Outputs differ from those of torch by rounding: a weighted sum is added up in the order of the inputs, starting with
    the bias, and without fused operations. They are the same on all processors, and for any number of rows.
    """

    def __init__(self, network: Any, *, log_std: Any = None, activation: str | None = None, rng: Any = None):
        self.sampler = Sampler() if rng is None else as_sampler(rng)
        self._network, self._log_std, self._activation = network, log_std, activation
        self.policy = self._policy_of(network, log_std)

    @property
    def extras(self) -> dict[str, Any]:
        """Dtype of each extra by name."""
        names = ("log_prob",) if self.policy.critic is None else ("log_prob", "value")
        return {name: np.dtype(np.float32) for name in names}

    def update(self, network: Any = None, *, log_std: Any = None) -> None:
        """Copy new weights.

        Parameters
        ----------
        network, log_std : optional
            As for the class. By default, the objects that were passed last are read again: an optimizer of torch has
            changed them in place.

        Raises
        ------
        ConfigError, TypeError
            As for the class; or a critic was removed or added, or the number of inputs or outputs differs. The policy
            is unchanged.
        """
        network = self._network if network is None else network
        log_std = self._log_std if log_std is None else log_std
        policy, before = self._policy_of(network, log_std), self.policy
        for what, new, old in zip(("the policy", "the actor"), signature(policy), signature(before), strict=True):
            if new != old:
                raise ConfigError(f"{what} must have {old} as before, got {new}: make a new MLP")
        self._network, self._log_std, self.policy = network, log_std, policy

    def __call__(self, result: Any) -> tuple[npt.NDArray[Any], dict[str, npt.NDArray[np.float32]]]:
        """Return actions and extras for a result of ``reset`` or ``step``, as ``Rollout.collect`` asks for them.

        Parameters
        ----------
        result : tuple or TimeStep
            The observations are a single array of float32, float64, uint8 or bool, (B, ...).

        Returns
        -------
        action : numpy.ndarray
            int64 (B,), or float32 (B, D).
        extras : dict
            float32 (B,) by name, see `extras`.
        """
        if hasattr(result, "observation"):  # of dm_env
            result = (getattr(result.observation, "obs", None),)
        obs = result[0] if isinstance(result, tuple) else result
        inputs = self.policy.actor.inputs
        if not isinstance(obs, np.ndarray) or obs.dtype not in OBSERVATIONS or math.prod(obs.shape[1:]) != inputs:
            got = f"{obs.dtype} {obs.shape}" if isinstance(obs, np.ndarray) else type(obs).__name__
            raise ConfigError(
                "the observations must be one array of float32, float64, uint8 or bool, (B, ...) with an element for "
                f"each of the {inputs} inputs of the actor, got {got}"
            )
        answers = Answers(self.policy, len(obs))
        answers.of(obs)
        extras = {"log_prob": answers.log_probs}
        if answers.values is not None:
            extras["value"] = answers.values
        return answers.actions, extras

    def fit(self, pool: EnvPool, stores_frames: bool) -> tuple[str, tuple[int, ...]]:
        """Return the name of the array of observations and the shape of an action.

        Parameters
        ----------
        pool : EnvPool
            The pool.
        stores_frames : bool
            If True, the pool's rollout stores frames instead of observations.

        Raises
        ------
        ConfigError
            The policy cannot play the task.
        """
        spec, actor = pool.spec, self.policy.actor
        if spec.num_players:
            raise ConfigError(f"an MLP acts for environments, and {spec.task_id!r} has players: {WAY_OUT}")
        if stores_frames:
            raise ConfigError(f"an MLP needs whole observations, but the rollout has frames_once=True: {WAY_OUT}")
        names = [name for name in spec.state_array_spec if name == "obs" or name.startswith("obs:")]
        space: Any = spec.gymnasium_observation_space
        actions: Any = spec.gymnasium_action_space
        is_discrete = self.policy.log_std is None
        if len(names) != 1 or not isinstance(space, Box) or space.dtype not in OBSERVATIONS:
            raise ConfigError(
                f"an MLP needs observations from one Box of float32, float64, uint8 or bool, and {spec.task_id!r} has "
                f"{shown(space)}: {WAY_OUT}"
            )
        if math.prod(space.shape) != actor.inputs:
            raise ConfigError(
                f"the actor must have an input for each of the {math.prod(space.shape)} elements of an observation of "
                f"{spec.task_id!r}, got {actor.inputs} inputs"
            )
        if is_discrete:
            fits = isinstance(actions, Discrete) and actions.start == 0
        else:
            fits = isinstance(actions, Box) and actions.dtype.kind == "f"
        if not fits:
            kind = "Discrete actions that begin with 0" if is_discrete else "continuous actions from one Box"
            other = "pass log_std for continuous ones" if is_discrete else "leave log_std out for Discrete ones"
            raise ConfigError(
                f"an MLP {'without' if is_discrete else 'with'} log_std has {kind}, and {spec.task_id!r} has "
                f"{shown(actions)}: {other}, or {WAY_OUT}"
            )
        count = int(actions.n) if is_discrete else math.prod(actions.shape)
        if count != actor.outputs:
            raise ConfigError(
                f"the actor must have {count} outputs for the actions of {spec.task_id!r}, {shown(actions)}, got "
                f"{actor.outputs}"
            )
        return names[0], () if is_discrete else actions.shape

    def _policy_of(self, network: Any, log_std: Any) -> Policy:
        """Return a policy with copies of the weights."""
        if isinstance(network, Mapping):
            if self._activation not in ACTIVATIONS or self._activation == "linear":
                raise ConfigError(
                    f"activation must be 'tanh', 'relu' or 'elu' for a dict of arrays, got {shown(self._activation)}"
                )
            parts, found = arrays_by_network(network, self._activation)
            if found is not None and log_std is not None:
                raise ConfigError("log_std was passed twice: leave out the argument, or the entry of the dict")
            log_std = found if log_std is None else log_std
        else:
            if self._activation is not None:
                raise ConfigError(
                    f"activation is for a dict of arrays, got {shown(self._activation)}: a Sequential has its own"
                )
            modules = network if isinstance(network, (tuple, list)) else (network,)
            if not 1 <= len(modules) <= 2:
                raise ConfigError(f"network must be an actor or a pair (actor, critic), got {len(modules)} networks")
            parts = {name: layers_of(name, module) for name, module in zip(("actor", "critic"), modules, strict=False)}
        actor, critic = (complete(name, parts[name]) if name in parts else None for name in ("actor", "critic"))
        assert actor is not None
        if critic is not None and (critic.inputs, critic.outputs) != (actor.inputs, 1):
            raise ConfigError(
                f"the critic must have the {actor.inputs} inputs of the actor and one output, got {critic.inputs} and "
                f"{critic.outputs}"
            )
        if log_std is not None:
            log_std = as_array("log_std", log_std)
            if log_std.shape == (1, actor.outputs):
                log_std = log_std[0]
            log_std = finite("log_std", checked("log_std", log_std, [np.float32], (actor.outputs,))).copy()
        return Policy(actor, critic, log_std, self.sampler.draws)

    def __reduce__(self) -> Any:
        raise TypeError("an MLP cannot be pickled or copied: pickle its networks and its `sampler`, and make a new MLP")

    def __repr__(self) -> str:
        head = "categorical" if self.policy.log_std is None else "gaussian"
        actor, critic = self.policy.actor, "" if self.policy.critic is None else ", with a critic"
        return f"MLP({head}, {actor.inputs} inputs, {actor.outputs} outputs{critic})"


def signature(policy: Policy) -> tuple[str, str]:
    """Return what an update must not change, as texts for errors."""
    parts = ["a critic" if policy.critic is not None else "no critic", "log_std" if policy.log_std is not None else ""]
    actor = policy.actor
    return " and ".join(part for part in parts if part), f"{actor.inputs} inputs and {actor.outputs} outputs"


def layers_of(name: str, module: Any) -> list[Layer]:
    """Return the layers of a Sequential of torch."""
    layers: list[Layer] = []
    for path, part in flattened(name, module):
        kind = type(part).__name__
        is_linear = bool(layers) and layers[-1][2] == "linear"
        if kind == "Linear":
            weight = as_array(f"{path}.weight", part.weight)
            bias = np.zeros(len(weight), np.float32) if part.bias is None else as_array(f"{path}.bias", part.bias)
            layers.append((weight, bias, "linear", 0.0))
        elif kind in TORCH_ACTIVATIONS and is_linear:
            layers[-1] = (*layers[-1][:2], TORCH_ACTIVATIONS[kind], alpha_of(path, part))
        elif kind != "Identity" and not (kind == "Flatten" and not layers and part.start_dim == 1):
            raise ConfigError(
                f"{path} must be a torch.nn.Linear, or a Tanh, ReLU or ELU after one, got {shown(part)}: {WAY_OUT}"
            )
    if not layers:
        raise ConfigError(f"the {name} must have at least one torch.nn.Linear, got none: {WAY_OUT}")
    return layers


def alpha_of(path: str, activation: Any) -> float:
    """Return the alpha of an activation of torch; 0 for those without."""
    alpha = getattr(activation, "alpha", 0.0)
    if not isinstance(alpha, int | float) or not math.isfinite(alpha):
        raise ConfigError(f"{path}.alpha must be a finite number, got {shown(alpha)}")
    return float(alpha)


def flattened(path: str, module: Any) -> Iterable[tuple[str, Any]]:
    """Yield the layers of nested Sequentials of torch with their names."""
    if not type(module).__module__.startswith("torch.nn.modules."):
        raise ConfigError(
            f"{path} must be of a class of torch.nn itself, got {type(module).__module__}.{type(module).__qualname__}: "
            f"{WAY_OUT}"
        )
    if module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module):
        raise ConfigError(
            f"{path} must not have forward hooks, or a forward of its own, which an MLP would not call: {WAY_OUT}"
        )
    if type(module).__name__ != "Sequential":
        yield path, module
        return
    for name, part in module._modules.items():  # named_children() leaves out a module that comes again
        yield from flattened(f"{path}.{name}", part)


def arrays_by_network(arrays: Mapping[str, Any], activation: str) -> tuple[dict[str, list[Layer]], Any]:
    """Return the layers of each network in a dict of arrays, and `log_std` or None."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    log_std = None
    for key, value in arrays.items():
        match = ARRAY_NAME.fullmatch(key) if isinstance(key, str) else None
        if key == "log_std":
            log_std = value
        elif match is None:
            raise ConfigError(
                "network must have the entries 'actor.0.weight', 'actor.0.bias', 'critic.0.weight' and so on, and "
                f"'log_std', got {shown(key)}: leave other entries out"
            )
        else:
            found.setdefault(match[1], {}).setdefault(int(match[2]), {})[match[3]] = as_array(key, value)
    if "actor" not in found:
        raise ConfigError(f"network must have the arrays of an actor, 'actor.0.weight' and so on, got {list(arrays)}")
    networks = {}
    for name, numbered in found.items():
        layers: list[Layer] = []
        for k in sorted(numbered):
            weight, bias = numbered[k].get("weight"), numbered[k].get("bias")
            if weight is None:
                raise ConfigError(f"network must have a '{name}.{k}.weight', got only '{name}.{k}.bias'")
            is_last = k == max(numbered)
            bias = np.zeros(len(weight) if weight.ndim else 0, np.float32) if bias is None else bias
            layers.append((weight, bias, "linear" if is_last else activation, 1.0))
        networks[name] = layers
    return networks, log_std


def complete(name: str, layers: list[Layer]) -> Network:
    """Return the network of layers whose arrays are checked here."""
    previous: int | str = "inputs"
    kept = []
    for k, (weight, bias, activation, alpha) in enumerate(layers):
        of_weight, of_bias = (f"the {part} of layer {k} of the {name}" for part in ("weight", "bias"))
        weight = finite(of_weight, checked(of_weight, weight, [np.float32], ("outputs", previous)))
        if not weight.size:
            raise ConfigError(f"{of_weight} must have at least one input and one output, got shape {weight.shape}")
        previous = len(weight)
        bias = finite(of_bias, checked(of_bias, bias, [np.float32], (previous,)))
        kept.append((weight, bias, activation, alpha))
    return Network(kept)


def as_array(name: str, value: Any) -> npt.NDArray[Any]:
    """Return a tensor of any device, or an array, as a C-contiguous array."""
    try:
        if hasattr(value, "detach"):  # of torch
            value = value.detach().cpu()
        return np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"{name} must convert to a NumPy array, got {type(value).__name__} ({error}): pass float32 weights"
        ) from error


def finite(name: str, array: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return an array, or raise ConfigError if it has NaN or infinite elements."""
    if not np.isfinite(array).all():
        raise ConfigError(f"{name} must be finite, got {shown(array)}: the learner has diverged")
    return array
