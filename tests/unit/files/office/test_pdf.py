from __future__ import annotations

import io
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pypdf
import pytest
from reportlab.pdfgen.canvas import Canvas

from neardup.errors import MissingExtraError
from neardup.files import formats, pdf
from neardup.files.inputs import resolve_paths
from neardup.files.pdf import pdf_text
from neardup.files.plain import UnreadableFileError
from neardup.options.groups import InputOptions
from neardup.version import pip_install
from tests.documents import pdf_of
from tests.each import each_of


def text_of(data: bytes) -> str:
    return pdf_text(data, InputOptions())


def encrypted(data: bytes, user: str, owner: str = "owner") -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt(user, owner, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


TWO = pdf_of(["One two three", "four é"], [], ["five"])


def test_extract__lines_of_pages():
    assert text_of(TWO) == "One two three\nfour é\nfive"


def test_extract__as_another_reader():
    rng = random.Random(3)
    pages = [
        [" ".join(rng.choices(["one", "two", "(three)", "four\\five"], k=8)) for _ in range(30)]
        for _ in range(3)
    ]
    data = pdf_of(*pages)
    other = "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages)
    assert (
        text_of(data).split() == other.split() == [w for p in pages for s in p for w in s.split()]
    )


def test_extract__word_broken_at_the_end_of_a_line():
    """The hyphen that PDFium takes for one that breaks a word is left out."""
    text = text_of(pdf_of(["This has been hyphen-", "ated by the setter, self-made by hand"]))
    assert re.sub(r"\s+", " ", text).startswith("This has been hyphen")
    assert "\ufffe" not in text
    assert "\x02" not in text


def test_extract__owner_password_alone():
    """It forbids printing or copying, which is not what reading does."""
    assert text_of(encrypted(TWO, "")) == text_of(TWO)


@each_of(
    ("data", "facts"),
    [
        (b"", "not a PDF"),
        (b"text", "not a PDF"),
        (TWO[:300], "not a PDF"),
        (encrypted(TWO, "secret"), "is encrypted"),
        (pdf_of([]), "no text.* 1 page,"),
        (pdf_of([], []), "no text.* 2 pages,"),
    ],
    ids=["empty", "text", "cut", "encrypted", "blank", "blank pages"],
)
def test_extract__what_cannot_be_read(data, facts):
    with pytest.raises(UnreadableFileError, match=facts):
        text_of(data)


def test_extract__too_much_text(monkeypatch):
    monkeypatch.setattr("neardup.files.pdf.MAX_TEXT_BYTES", 10)
    with pytest.raises(UnreadableFileError, match=r"text .*0 MB"):
        text_of(TWO)


def test_extract__in_threads():
    """Each has a process of its own."""
    documents = [pdf_of([f"document {number}"] * 20) for number in range(24)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(text_of, documents))
    assert [text.split("\n")[0] for text in found] == [f"document {n}" for n in range(24)]


def forms_within_forms(depth: int) -> bytes:
    """Return a document of a few kilobytes that draws one letter 20^depth times."""
    shown = b"<</Font<</F 5 0 R>>/XObject<</X %d 0 R>>>>"
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources "
        + shown % 6
        + b">>",
        b"<</Length 5>>stream\n/X Do\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number in range(depth + 1):
        content = b"/X Do " * 20 if number < depth else b"BT /F 9 Tf (a) Tj ET"
        about = b"<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources " + shown % (7 + number)
        parts.append(about + b"/Length %d>>stream\n%s\nendstream" % (len(content), content))
    data = b"%PDF-1.4\n"
    for number, part in enumerate(parts, 1):
        data += b"%d 0 obj %s endobj\n" % (number, part)
    return data + b"trailer<</Size %d/Root 1 0 R>>\n%%%%EOF" % (len(parts) + 1)


@pytest.mark.slow
def test_extract__bomb_of_time(monkeypatch):
    assert "a" in text_of(forms_within_forms(1))
    monkeypatch.setattr(pdf, "MOST_SECONDS", 1)
    with pytest.raises(UnreadableFileError, match=r"^PDFium failed.* 1 s or 2048 MB"):
        text_of(forms_within_forms(9))
    # The next one is read by another process.
    assert text_of(TWO) == "One two three\nfour é\nfive"


@pytest.mark.slow
def test_extract__bomb_of_memory(monkeypatch):
    out = io.BytesIO()
    canvas = Canvas(out, pageCompression=1)
    line = canvas.beginText(72, 760)
    for _ in range(100):
        line.textOut("x" * 30_000)
    canvas.drawText(line)
    canvas.save()
    assert len(out.getvalue()) < 100_000
    monkeypatch.setattr(pdf, "MOST_MEMORY", 400 << 20)
    with pytest.raises(UnreadableFileError, match=r"^PDFium failed.* 400 MB"):
        text_of(out.getvalue())
    assert text_of(TWO) == "One two three\nfour é\nfive"


@pytest.mark.slow
def test_extract__process_that_was_killed():
    """It is as if the document had crashed it; the next one is read by another."""
    text_of(TWO)
    [*_, reader] = pdf._idle[os.getpid()]
    reader._process.kill()
    with pytest.raises(UnreadableFileError, match=r"^PDFium failed"):
        text_of(TWO)
    assert text_of(TWO) == "One two three\nfour é\nfive"


@pytest.mark.slow
def test_processes__end_with_the_program(tmp_path):
    (tmp_path / "a.pdf").write_bytes(TWO)
    code = (
        "import sys\nfrom neardup.files import pdf\n"
        "print(len(pdf.pdf_text(open(sys.argv[1], 'rb').read(), None)))\n"
        "print(*[reader._process.pid for part in pdf._idle.values() for reader in part])"
    )
    path = str(tmp_path / "a.pdf")
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert done.stderr == ""
    size, process = done.stdout.split()
    assert int(size) == len(text_of(TWO))
    with pytest.raises(ProcessLookupError):
        os.kill(int(process), 0)


@pytest.fixture
def without_pdfium(monkeypatch):
    monkeypatch.setattr(formats, "_is_installed", lambda package: package != "pypdfium2")


def test_missing_extra__of_a_file_that_is_named(tmp_path, without_pdfium):
    (tmp_path / "a.pdf").write_bytes(TWO)
    with pytest.raises(MissingExtraError, match=r"format pdf .*pip install .*\[documents\]"):
        resolve_paths([str(tmp_path / "a.pdf")])


def test_missing_extra__in_a_folder(tmp_path, without_pdfium):
    """Such files are passed over, unless all are to be read as PDF."""
    (tmp_path / "a.pdf").write_bytes(TWO)
    (tmp_path / "b.txt").write_bytes(b"text")
    assert resolve_paths([str(tmp_path)]).passed_over == {".pdf": 1}
    assert formats.missing_extras([".pdf", ".txt", ".md"]) == [
        f"to read .pdf files: {pip_install('documents')}"
    ]
    with pytest.raises(MissingExtraError):
        resolve_paths([str(tmp_path)], InputOptions(input_format="pdf"))
