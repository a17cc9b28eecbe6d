from collections.abc import Sequence
from typing import Any

from envpool._core.definition import Field
from envpool.transforms.actions import ActionChange
from envpool.transforms.observations import FieldChange

def wrap(
    capsule: Any,
    fields: Sequence[Field],
    actions: Sequence[Field],
    field_plans: Sequence[FieldChange],
    action_plans: Sequence[ActionChange | None],
) -> Any: ...
