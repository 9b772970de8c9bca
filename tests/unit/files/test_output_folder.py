from __future__ import annotations

from pathlib import Path

import pytest

from neardup.errors import OutputExistsError, WriteError
from neardup.files.destinations import check_apart, check_output, new_folder, target_of
from neardup.files.remote import Url
from tests.each import each_of


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_new_folder__appears_at_the_end(tmp_path):
    target = tmp_path / "out"
    with new_folder(target) as folder:
        (folder / "a").write_text("new")
        assert not target.exists()
        assert folder.parent.parent == tmp_path
        assert folder.parent.name.startswith(".out.neardup-")
    assert listing(tmp_path) == ["out", "out/a"]


def write_late(target: Path, meanwhile: str, *, overwrite: bool = False) -> None:
    with new_folder(target, overwrite=overwrite) as folder:
        (folder / "a").write_text("new")
        if meanwhile == "folder":
            target.mkdir()
            (target / "theirs").write_text("theirs")
        else:
            target.write_text("theirs")


def test_new_folder__someone_else_was_faster(tmp_path):
    with pytest.raises(OutputExistsError):
        write_late(tmp_path / "out", "folder")
    assert listing(tmp_path) == ["out", "out/theirs"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_new_folder__a_file_was_made_meanwhile(tmp_path, overwrite):
    with pytest.raises(WriteError, match="not a folder"):
        write_late(tmp_path / "out", "file", overwrite=overwrite)
    assert (tmp_path / "out").read_text() == "theirs"


def test_check_output__relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_output(Path("out"), overwrite=False)
    check_output(Path("../out"), overwrite=False)
    for above in (Path(), Path(".."), tmp_path):
        with pytest.raises(WriteError, match="you are in"):
            check_output(above, overwrite=True)


@pytest.mark.parametrize("kind", ["file", "link", "dangling link"])
def test_check_output__is_no_folder(tmp_path, kind):
    (tmp_path / "real").mkdir()
    target = tmp_path / "out"
    match kind:
        case "file":
            target.write_text("precious")
        case "link":
            target.symlink_to("real")
        case _:
            target.symlink_to("nowhere")
    for overwrite in (False, True):
        with pytest.raises(WriteError):
            check_output(target, overwrite=overwrite)


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


def test_check_apart__input_in_the_output(tmp_path):
    (tmp_path / "out" / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to("out")
    for path in ("out/a.jsonl", "out/sub/a.jsonl", "link/a.jsonl", "x/../out/a.jsonl"):
        with pytest.raises(OutputExistsError, match="holds the input"):
            check_apart(tmp_path / "out", ["a", f"{tmp_path}/{path}"])


def test_check_apart__input_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_apart(Path("out"), ["out.jsonl", "outer/a.jsonl", "a", "s3://bucket/out/a.jsonl"])
    check_apart(Path("out"), [])
