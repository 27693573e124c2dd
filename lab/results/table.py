"""A line of a CSV file as a dataclass: its columns are read by their names.

A column that is missing means that its value was not measured, if its field has a default.
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, get_type_hints


def parsed(
    kind: type, row: Mapping[str, str], prefix: str = "", without: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The fields of a dataclass, by their names. KeyError if one is missing that has no default."""
    values, types = {}, _types_of(kind)
    for field in fields(kind):
        column = prefix + field.name
        if field.name in without or (field.default is not MISSING and not row.get(column)):
            continue
        values[field.name] = _value(types[field.name], row[column])
    return values


def figures(names: Iterable[str], row: Mapping[str, str]) -> dict[str, float]:
    """Those of these names that were measured."""
    return {name: float(row[name]) for name in names if row.get(name)}


def short(value: Any) -> Any:
    """Four decimals are more precise than any counter here."""
    return round(value, 4) if isinstance(value, float) else value


@cache
def _types_of(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(kind: object, text: str) -> Any:
    if kind is str:
        return text
    if kind is int:
        return int(text)
    return text == "True" if kind is bool else float(text)
