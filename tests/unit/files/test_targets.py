from __future__ import annotations

from pathlib import Path

import pytest

from neardup.files.destinations import target_of
from neardup.files.remote import Url
from tests.each import each_of


@each_of("path", ["out", Path("a/out"), "/a/out.csv", "a:b/c", "-"])
def test_target_of__path(path):
    assert target_of(path) == Path(path)
    assert not isinstance(target_of(path), Url)


def test_target_of__url_of_a_local_file():
    assert target_of("file:///a/out") == Path("/a/out")


@pytest.mark.parametrize(
    "url", ["s3://bucket/a/out.csv", "memory://out.csv", "simplecache::s3://b/c.csv"]
)
def test_target_of__url(url):
    target = target_of(url + "/")
    assert isinstance(target, Url)
    assert (str(target), target.suffix) == (url, ".csv")
    assert target_of(target) == target
