"""What is asked of any page, as scripts: is it accessible, fast, smooth, whole on a phone."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path

AXE = Path(__file__).parent / "axe" / "axe.min.js.xz"


@cache
def axe_source() -> str:
    return lzma.decompress(AXE.read_bytes()).decode()


def violations(*off: str) -> str:
    """Tell the rules of axe-core that the page breaks, but for some: each with its places.

    Style sheets are read as the page has them, and nothing is loaded for it.
    """
    rules = json.dumps({rule: {"enabled": False} for rule in off})
    return f"""(async () => {{
      if (!window.axe) {{ {axe_source()} }}
      const found = await axe.run(
        {{ preload: false, resultTypes: ['violations'], rules: {rules} }});
      return found.violations.map((rule) => ({{
        rule: rule.id,
        help: rule.help,
        places: rule.nodes.slice(0, 5).map((node) => node.target.join(' ') + ' | ' + node.html),
        why: rule.nodes[0].failureSummary,
      }}));
    }})()"""


# Apply the rules for print, and leave out those for the screen.
AS_PRINTED = """(() => {
  const change = (rules) => {
    for (const rule of rules) {
      if (rule instanceof CSSMediaRule) {
        if (/^print$/.test(rule.media.mediaText)) rule.media.mediaText = 'all';
        else if (/^screen/.test(rule.media.mediaText)) rule.media.mediaText = 'not all';
      }
      if (rule.cssRules) change(rule.cssRules);
    }
  };
  for (const sheet of document.styleSheets) change(sheet.cssRules);
  return document.styleSheets.length;
})()"""

# Sections of which something reaches into the next one, and by how much.
OVERLAPS = """(() => {
  dispatchEvent(new Event('beforeprint'));
  const shown = [...document.querySelectorAll('main > section')].filter((e) => e.checkVisibility());
  return shown.slice(0, -1).flatMap((section, k) => {
    const next = shown[k + 1].getBoundingClientRect();
    // Two that stand beside each other.
    if (next.left >= section.getBoundingClientRect().right) return [];
    const bottoms = [...section.querySelectorAll('*')].filter((e) => e.checkVisibility())
      .map((e) => e.getBoundingClientRect().bottom);
    const over = Math.max(0, ...bottoms) - next.top;
    return over > 1 ? [[section.id, over]] : [];
  });
})()"""

# How far one can scroll sideways, what sticks out of the window or of its chart, and what is too
# small to touch.
WIDTHS = """(() => {
  const shown = (e) => e.checkVisibility({ visibilityProperty: true });
  const name = (e) => e.localName + (e.id ? '#' + e.id : '') + (e.className.baseVal === undefined
    && e.className ? '.' + e.className : '') + ': ' + e.textContent.trim().slice(0, 40);
  const scrolls = (e) => e && e !== document.body && e !== document.documentElement
    && (getComputedStyle(e).overflowX !== 'visible' || scrolls(e.parentElement));
  const wide = [...document.body.querySelectorAll('*')].filter(
    (e) => shown(e) && e.getBoundingClientRect().right > innerWidth + 1
      && !scrolls(e.parentElement) && !e.closest('svg'));
  const small = [...document.querySelectorAll('button, select, summary, textarea, '
    + 'input:not([type=hidden])')].filter(
    (e) => shown(e) && e.getBoundingClientRect().height < 24);
  const out = (e, chart) => e.left < chart.left - 2 || e.right > chart.right + 2
    || e.top < chart.top - 2 || e.bottom > chart.bottom + 2;
  const cut = [...document.querySelectorAll('svg text')].filter(
    (e) => shown(e) && out(e.getBoundingClientRect(), e.ownerSVGElement.getBoundingClientRect()));
  return {
    width: innerWidth,
    cut: cut.slice(0, 5).map(name),
    scroll: document.documentElement.scrollWidth,
    wide: wide.slice(0, 5).map(name),
    small: small.slice(0, 5).map(name),
  };
})()"""

# What leads out of a page that is a file, or would run what the policy does not know: none of it is
# there. Styles that the page's script sets are no attributes that the policy would have to allow.
CLOSED = """(() => {
  const names = ['src', 'href', 'action', 'data', 'poster'];
  const all = [...document.querySelectorAll('*')];
  const addresses = all.flatMap((e) => names.map((name) => e.getAttribute(name)))
    .filter((value) => value !== null);
  return {
    policies: document.querySelectorAll('meta[http-equiv=Content-Security-Policy]').length,
    addresses: addresses.filter((value) => !value.startsWith('#')),
    nowhere: addresses.filter((value) => value.startsWith('#') && value.length > 1
      && !document.getElementById(value.slice(1))),
    loaders: all.filter((e) => e.matches('link, base, iframe, object, embed, img, audio, video'))
      .map((e) => e.outerHTML),
    handlers: all.flatMap((e) => e.getAttributeNames()).filter((name) => name.startsWith('on')),
    ran: document.title === 'ran',
  };
})()"""

# Colours of the page and its letters: bright, dark, and told apart.
COLOURS = """({
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  ink: getComputedStyle(document.body).color,
  page: getComputedStyle(document.body).backgroundColor,
})"""

# What the keyboard is at.
FOCUS = """(() => {
  const e = document.activeElement, box = e.getBoundingClientRect();
  const style = getComputedStyle(e);
  return {
    place: [...document.querySelectorAll('*')].indexOf(e),
    tag: e.localName, id: e.id, text: e.textContent.trim().slice(0, 60),
    seen: box.bottom > 0 && box.top < innerHeight,
    outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
  };
})()"""
