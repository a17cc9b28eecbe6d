"""Checks of what the class of an environment declares and returns, so that an error names the class and the method."""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from envpool._core.definition import upgrade_capsule
from envpool._support.text import shown
from envpool.config.options import POOL_DEFAULTS
from envpool.config.params import Param
from envpool.errors import ConfigError
from envpool.native import EnvDefinition, Field, TextField


def check_class(definition: type[EnvDefinition]) -> None:
    """Raise TypeError or ConfigError unless the tables of a class have the types that EnvDefinition states."""
    name = definition.__name__
    kinds = {"options": object, "params": Param, "reset_options": Param, "presets": Mapping}
    for attribute, kind in kinds.items():
        table = getattr(definition, attribute)
        if not isinstance(table, Mapping) or not all(isinstance(value, kind) for value in table.values()):
            of = {object: "defaults", Param: "Param", Mapping: "dicts of options"}[kind]
            raise TypeError(f"{attribute} of {name} must be a dict from names to {of}, got {shown(table)}")
    for option in (*definition.options, *definition.params, *definition.reset_options):
        is_name = isinstance(option, str) and option.isidentifier() and not keyword.iskeyword(option)
        if not is_name or option.startswith("_"):
            raise ConfigError(
                f"an option of {name} must be an identifier that does not begin with an underscore, got {shown(option)}"
            )
    for option in (*definition.options, *definition.params):
        if option in POOL_DEFAULTS:
            raise ConfigError(
                f"an option of {name} must not be {option!r}, which every task has: choose another name, or pass "
                f"{option}=... to envpool.register() for another default"
            )


def built(env: type, capsule: Any) -> Any:
    """Return what ``build`` of a class has returned as a capsule with every member, or raise a TypeError."""
    try:
        return upgrade_capsule(capsule)
    except TypeError as error:
        raise TypeError(f"build() of {env.__name__} must return the result of define(): {error}") from None


def check_text_fields(
    env: type, texts: Any, fields: Sequence[Field], transforms: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, TextField]:
    """Return what ``text_fields`` of a class has returned, or raise TypeError or ConfigError.

    `transforms` are the options of transforms, of which those that make floats cannot be used with texts.
    """
    if not isinstance(texts, Mapping) or not all(isinstance(text, TextField) for text in texts.values()):
        raise TypeError(f"text_fields() of {env.__name__} must return a dict of TextField, got {shown(texts)}")
    for option in ("float32_obs", "normalize_obs"):
        value = transforms.get(option, False)
        for text in texts.values() if value is not False else ():
            raise ConfigError(f"{option} must be False with {text.option}, got {shown(value)}")
    known = [f.name for f in fields if f.dtype == np.uint8 and f.shape and f.shape[-1] != -1]
    for name in texts:
        if name not in known:
            raise ConfigError(
                f"text_fields() of {env.__name__} must name fields of dtype uint8 and shape (length,), got "
                f"{shown(name)}; there are {', '.join(map(repr, known)) or 'none'}"
            )
    return dict(texts)
