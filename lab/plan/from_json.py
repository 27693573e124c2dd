"""Reads dataclasses from the JSON that dataclasses.asdict() gives."""

from dataclasses import MISSING, Field, fields, is_dataclass
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Read = TypeVar("Read")


def from_json(kind: type[Read], value: dict[str, Any]) -> Read:
    """The value as this dataclass.

    Its fields may be dataclasses, X | None, list, dict, tuple[X, ...], or plain. A key that is
    missing gets the default of its field, and KeyError is raised if it has none. A key without a
    field, of a newer version, is ignored.
    """
    types = get_type_hints(kind)
    return kind(
        **{
            field.name: _read(types[field.name], value[field.name])
            for field in fields(kind)  # type: ignore[arg-type]
            if field.name in value or not _has_default(field)
        }
    )


def _read(kind: Any, value: Any) -> Any:
    if is_dataclass(kind):
        return from_json(kind, value)  # type: ignore[arg-type]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return None if value is None else _read(inner[0], value)
    if origin is dict:
        return {key: _read(inner[1], one) for key, one in value.items()}
    if origin in (list, tuple):
        return origin(_read(inner[0], one) for one in value)
    return value


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING
