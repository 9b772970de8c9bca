"""The encoding of a web page: by its mark, as it says itself, as it was chosen, else UTF-8.

Labels mean what they mean in browsers: ``iso-8859-1`` is windows-1252. Bytes that an encoding lacks
become U+FFFD, as in browsers, where the encoding was chosen or the page says it; a page that says
nothing and is not UTF-8 is refused, since any other encoding would be a guess.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import lru_cache

from neardup.files.arrowcolumns import is_utf8
from neardup.files.encodings import encoding_by_mark
from neardup.files.extracted import UnreadableFileError
from neardup.files.problems import not_utf8
from neardup.files.rawrows import BYTE_ORDER_MARK

# How much of a page is always searched for what it says of itself, and how much while its head
# goes on: browsers and the standard look on there.
_PRESCAN_BYTES, _HEAD_BYTES = 1 << 10, 1 << 13

_TAG = re.compile(rb"<(?:(!--)|/?([A-Za-z][^\t\n\f\r >]*+)|[!/?])")
_META = re.compile(rb"meta(?=[/\t\n\f\r ])", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rb"""[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*+)"""
    rb"""(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:(["'])(.*?)(?:\2|\Z)|([^\t\n\f\r >]*+)))?+""",
    re.DOTALL,
)
_IN_CONTENT = re.compile(
    rb"""charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:(["'])(.*?)\1|(?!["'])([^\t\n\f\r ;]*+))?+""",
    re.DOTALL | re.IGNORECASE,
)
_XML = re.compile(
    rb"""<\?xml(?:(?!encoding)[^>])*+encoding[\0- ]*+=[\0- ]*+(["'])([^\0- >]*?)\1[^>]*+>"""
)
_UTF16_XML = {
    "<?x".encode("utf-16-le"): "utf-16-le",
    "<?x".encode("utf-16-be"): "utf-16-be",
}
_OF_HEAD = frozenset(b"html head title base link meta script style noscript object".split())
_RAW = frozenset(b"title script style noscript".split())

# The labels that browsers know. By Python's names some are of other encodings, many of none.
_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 "
    "l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 "
    "l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 "
    "l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 "
    "iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 "
    "iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 "
    "iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e "
    "iso-8859-8-i iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 logical visual",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 "
    "iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin-1 latin1 us-ascii windows-1252 "
    "x-cp1252 x-user-defined",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 "
    "iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb18030 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 "
    "x-gbk",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 "
    "ksc_5601 windows-949",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
}
_BY_LABEL = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}
_LABEL_LENGTH = 40
_SLASH = ord("/")
# What no page means by a name that Python knows reads some of this in another way.
_ASCII = rb"Aa Zz 09 <> \u0041 +AEE-"


def encoding_by_beginning(head: bytes) -> str | None:
    """Return the encoding that the first bytes of a page give away, before any that is named."""
    if head.startswith(BYTE_ORDER_MARK):
        return "utf-8"
    return encoding_by_mark(head[:4]) or _UTF16_XML.get(head[:6])


def page_in_utf8(
    data: bytes,
    *,
    chosen: str | None = None,
    header: str | None = None,
    is_html: bool = True,
    is_xml: bool = False,
) -> bytes:
    """Return a page in UTF-8, without a byte-order mark.

    Parameters
    ----------
    data
        The page.
    chosen
        The encoding that the user has chosen for pages that say none, by Python's name.
    header
        The label in the header with which a server sent the page.
    is_html
        The page may say itself what its encoding is; plain text does not.
    is_xml
        It is XHTML, where the declaration of XML counts before what elements say.
    """
    marked = encoding_by_beginning(data)
    if marked is not None:
        # The decoder of Python takes the order of bytes from the mark, and leaves that out.
        return _in_utf8(data.removeprefix(BYTE_ORDER_MARK), marked)
    labels: list[str] = []
    for label in (header, *(_own_labels(data[:_HEAD_BYTES], is_xml) if is_html else ())):
        codec = _codec(label) if label else None
        if codec is not None:
            # A page in which such a name could be read has no units of two bytes.
            is_wide = codec.startswith("utf-16") and label is not header
            return _in_utf8(data, "utf-8" if is_wide else codec)
        labels += [label] if label else []
    # Pages of many servers come together: what one says of itself is better known than by all.
    if chosen is not None:
        return _in_utf8(data, codecs.lookup(chosen).name)
    if is_utf8(data):
        return data
    raise UnreadableFileError(_not_utf8(data, labels))


def _own_labels(head: bytes, is_xml: bool) -> list[str]:
    """Return what a page says to be its encoding, what counts first before others."""
    found = [label.decode("latin-1") for label in _prescan(head)]
    declaration = _XML.match(head)
    if declaration is not None:
        found.insert(0 if is_xml else len(found), declaration[2].decode("latin-1"))
    return found


def _prescan(head: bytes) -> Iterator[bytes]:
    """Give the labels that ``meta`` elements name.

    See "prescan a byte stream to determine its encoding" in the HTML standard.
    """
    at = raw_stop = 0
    in_head = True
    while (tag := _TAG.search(head, at)) is not None:
        name = tag[2]
        if tag.start() >= _PRESCAN_BYTES:
            if not in_head:
                return
            # Here, where the standard has the parser look, what a script would write is no element.
            if tag.start() < raw_stop:
                at = raw_stop
                continue
        if name is None:
            # The dashes at the end of a comment may be those at its beginning.
            end = head.find(b"-->", tag.start() + 2) if tag[1] else head.find(b">", tag.end())
            if end < 0:
                return
            at = end + 1
            continue
        meta = _META.match(head, tag.start() + 1)
        attributes, at = _attributes(head, tag.end() if meta is None else meta.end())
        if at == len(head):
            # It goes on beyond what is read, so nobody knows what it says.
            return
        name = b"meta" if meta is not None else name.lower().partition(b"/")[0]
        in_head &= name in _OF_HEAD
        if name in _RAW and head[tag.start() + 1] != _SLASH:
            raw_stop = head.lower().find(b"</" + name, at) % (len(head) + 1)
        label = attributes.get(b"charset") if meta is not None else None
        if meta is not None and label is None:
            is_pragma = attributes.get(b"http-equiv", b"").lower() == b"content-type"
            content = _IN_CONTENT.search(attributes.get(b"content", b"")) if is_pragma else None
            label = content and (content[2] or content[3])
        if label is not None:
            yield label


def _attributes(head: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """Return the attributes of a tag, the first of each name, and where they end."""
    found: dict[bytes, bytes] = {}
    while (match := _ATTRIBUTE.match(head, at)) is not None:
        found.setdefault(match[1].lower(), match[3] or match[4] or b"")
        at = match.end()
    end = head.find(b">", at)
    return found, end if end >= 0 else len(head)


@lru_cache(256)
def _codec(label: str) -> str | None:
    """Return Python's name of the encoding that a label means in browsers; None for no such.

    Labels that browsers do not know are Python's names, if ASCII is read as ASCII in them.
    """
    label = label.strip("\t\n\f\r ").lower()
    known = _BY_LABEL.get(label)
    if known is not None:
        return known
    try:
        codec = codecs.lookup(label[:_LABEL_LENGTH].encode("ascii").decode()).name
        # Python has codecs that are none of texts, and says so where they are used.
        keeps_ascii = _ASCII.decode(codec) == _ASCII.decode()
    except (LookupError, ValueError):
        return None
    return codec if keeps_ascii and codec not in ("idna", "mbcs", "oem") else None


def _in_utf8(data: bytes, codec: str) -> bytes:
    if codec == "utf-8" and is_utf8(data):
        return data
    return data.decode(codec, "replace").encode("utf-8", "replace")


def _not_utf8(data: bytes, labels: list[str]) -> str:
    """Say where a page is not UTF-8, and what to do."""
    said = "says no encoding"
    if labels:
        said = f"says an encoding that is not known, {labels[0][:40]!r}"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        where = not_utf8(error, "the page")
    return (
        f"{where}, which {said}; name its encoding with encoding (--encoding), such as windows-1252"
    )
