"""The description of the interface as a page: operations, what they take, what they answer."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

import msgspec
from starlette.responses import Response

from neardup.service.bodies import page_answer
from neardup.service.operations import OPERATIONS, describe
from neardup.service.tokens import Role

_REFERENCE = "#/components/schemas/"


def reference_answer() -> Response:
    """Return the page; it is made once."""
    return Response(_page(), media_type="text/html")


@cache
def _page() -> bytes:
    document = msgspec.json.decode(describe())
    schemas = document["components"]["schemas"]
    operations = [_operation(each, document) for each in OPERATIONS]
    parts = [
        {"name": name, "says": schema.get("description", ""), "fields": _fields(schema)}
        for name, schema in sorted(schemas.items())
    ]
    return bytes(
        page_answer(
            "reference.html",
            version=document["info"]["version"],
            says=document["info"]["description"],
            operations=operations,
            roles=get_args(Role),
            parts=parts,
        ).body
    )


def _operation(operation: Any, document: dict[str, Any]) -> dict[str, Any]:
    """Return what the page says of an operation, by its description."""
    described = document["paths"][operation.path][operation.method.lower()]
    meanings = document["components"]["responses"]
    answer = described["responses"].pop("200")
    body = described.get("requestBody", {})
    return {
        "name": operation.name,
        "method": operation.method,
        "path": operation.path,
        "role": operation.role,
        "summary": described["summary"],
        "parameters": [
            {"name": each["name"], "needed": each["required"], **_described(each["schema"])}
            for each in described.get("parameters", [])
        ],
        "takes": _contents(body),
        "answers": _contents(answer),
        "problems": [
            {"status": status, "says": meanings[status]["description"]}
            for status in described["responses"]
        ],
    }


def _contents(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the media types of a body, and what is in each."""
    found = body.get("content", {})
    return [{"media": media, **_described(each["schema"])} for media, each in found.items()]


def _fields(schema: dict[str, Any]) -> list[dict[str, Any]]:
    needed = schema.get("required", [])
    return [
        {"name": name, "needed": name in needed, **_described(field)}
        for name, field in schema.get("properties", {}).items()
    ]


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the kind of a value in words, the part that describes it further, and what is said."""
    default = schema.get("default")
    says = [each.get("description", "") for each in (schema, *schema.get("anyOf", ()))]
    return {
        "kind": _kind(schema),
        "part": schema.get("$ref", "").removeprefix(_REFERENCE),
        "usual": "" if default in (None, {}, []) else msgspec.json.encode(default).decode(),
        "says": " ".join(filter(None, says)),
    }


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name: str = schema["$ref"].removeprefix(_REFERENCE)
        return name
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(msgspec.json.encode(each).decode() for each in schema["enum"])
    kinds = schema.get("type", "any value")
    if kinds == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    name = kinds if isinstance(kinds, str) else " or ".join(kinds)
    return f"{name}, {schema['format']}" if "format" in schema else name
