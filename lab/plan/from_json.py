"""Reads dataclasses from the JSON that dataclasses.asdict() gives."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints


def from_json(kind: Any, value: Any) -> Any:
    """The value as one of this type: a dataclass, X | None, list, dict, tuple[X, ...], or plain.

    A key that is missing gets the default of its field, and KeyError is raised if it has none. A
    key without a field, of a newer version, is ignored.
    """
    if is_dataclass(kind):
        types = get_type_hints(kind)
        return kind(  # type: ignore[operator]
            **{
                field.name: from_json(types[field.name], value[field.name])
                for field in fields(kind)
                if field.name in value or not _has_default(field)
            }
        )
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return None if value is None else from_json(inner[0], value)
    if origin is dict:
        return {key: from_json(inner[1], one) for key, one in value.items()}
    if origin in (list, tuple):
        return origin(from_json(inner[0], one) for one in value)
    return value


def _has_default(field: Field) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING
