"""Plots as short SVG: what Matplotlib writes says each style anew, and places to a millionth."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree

_SVG = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink"
_STYLE = f"{{{_SVG}}}style"
# Hundredths of a point are less than a screen shows.
_DIGITS = 2


def shorten(svg: str) -> str:
    """Return a plot that looks the same, with styles as classes and without what draws nothing."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    root = ElementTree.fromstring(svg)
    for data in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(data)
    named = set(re.findall(r"#([\w.]+)", svg))
    for element in root.iter():
        if element.get("id") not in named:
            element.attrib.pop("id", None)
        if re.fullmatch(r"rotate\(-0 .*\)", element.get("transform", "")):
            del element.attrib["transform"]
        for name, value in element.attrib.items():
            element.set(name, re.sub(r"\d+\.\d{3,}", _rounded, " ".join(value.split())))
        if not (element.text or "").strip():
            element.text = None
        element.tail = None if not (element.tail or "").strip() else element.tail
    _unwrap(root)
    _name_styles(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.{_DIGITS}f}".rstrip("0").rstrip(".")


def _unwrap(element: ElementTree.Element) -> None:
    """Put what groups without attributes hold into their place."""
    for child in element:
        _unwrap(child)
    children = list(element)
    for child in children:
        element.remove(child)
    for child in children:
        is_bare = child.tag == f"{{{_SVG}}}g" and not child.attrib
        element.extend(list(child) if is_bare else [child])


def _name_styles(root: ElementTree.Element) -> None:
    """Say each style that comes twice or more once, as a class."""
    counted = Counter(each.get("style") for each in root.iter() if each.get("style"))
    names = {style: f"s{i}" for i, (style, n) in enumerate(counted.most_common()) if n > 1}
    for element in root.iter():
        if (style := element.get("style", "")) in names:
            del element.attrib["style"]
            element.set("class", names[style])
    [sheet] = root.iter(_STYLE)
    sheet.text = (sheet.text or "") + "".join(f".{k}{{{v}}}" for v, k in names.items())
