from typing import Any

OPTIONS: dict[str, Any]
