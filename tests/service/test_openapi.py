"""The description of the interface, and what comes of requests made from it at random."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from neardup.service.operations import OPERATIONS, describe
from tests.each import each_of
from tests.service.conftest import make_indexes, start_service

DOCUMENT = json.loads(describe())


@pytest.mark.slow
def test_describe__is_openapi(shared):
    from openapi_spec_validator import OpenAPIV31SpecValidator  # takes long to load

    assert shared.get("/openapi.json").json() == DOCUMENT
    OpenAPIV31SpecValidator(DOCUMENT).validate()


@each_of("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_describe__every_operation(operation):
    described = DOCUMENT["paths"][operation.path][operation.method.lower()]
    assert described["operationId"] == operation.name
    assert described["summary"].endswith(".")
    assert described["responses"].keys() == {"200", "default"}
    problem = DOCUMENT["components"]["responses"]["Problem"]
    schema = problem["content"]["application/problem+json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/ProblemDetails"}


@pytest.mark.slow
def test_requests__at_random(tmp_path):
    """No request made from the description, or against it, ends in an answer that it lacks."""
    if find_spec("schemathesis") is None:
        pytest.skip("schemathesis is not installed")
    for running in start_service(make_indexes(tmp_path)):
        command = [
            *(sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()"),
            *("run", f"{running.url}/openapi.json", "--max-examples", "40", "--seed", "1"),
            *("--request-timeout", "300"),
            *("--phases", "examples,coverage,fuzzing", "--no-color", "--suppress-health-check"),
            *("all", "--exclude-checks", "positive_data_acceptance,ignored_auth"),
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=600)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert not running.events("defect")
