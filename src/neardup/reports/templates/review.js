"use strict";
// Pairs are judged one by one. Judgements are kept in the browser under the digest of the page.
(() => {
  const source = document.getElementById("review-data");
  if (source === null) return;
  const { pairs, fields, key, columns, is_count } = JSON.parse(source.textContent);
  const WORDS = ["", "yes", "no", "unsure"];
  const byId = (id) => document.getElementById(id);
  const format = (number) => number.toLocaleString("en");
  const note = byId("note"), listing = document.querySelector("#pairs .listing");
  const verdicts = [...document.querySelectorAll("[data-verdict]")];
  const labels = pairs.map(() => 0), notes = pairs.map(() => "");
  const past = [];
  let at = 0;

  // A frame of a notebook has no storage.
  function inBrowser(act) {
    try {
      act();
    } catch {
      byId("storage").hidden = false;
    }
  }

  const remember = () => inBrowser(() => localStorage.setItem(key, JSON.stringify({ labels, notes })));

  function make(tag, content, kind = "") {
    const element = document.createElement(tag);
    element.append(content);
    if (kind) element.className = kind;
    return element;
  }

  function written(value, side) {
    const box = document.createDocumentFragment();
    for (const run of typeof value === "string" ? [value] : value[side]) {
      if (typeof run === "number") box.append(make("span", ` … ${format(run)} words … `, "omitted"));
      else if (typeof run === "string") box.append(run);
      else box.append(make("mark", run[0].trimEnd()), run[0].slice(run[0].trimEnd().length));
    }
    return box;
  }

  function show(text = "") {
    const pair = pairs[at], label = labels[at];
    const value = pair[2] === null ? "" : ` · similarity ${is_count ? format(pair[2]) : pair[2].toFixed(4)}`;
    byId("card-title").textContent = `Pair ${format(at + 1)} of ${format(pairs.length)}${value}`
      + (label ? ` · ${WORDS[label]}` : "");
    byId("card-facts").textContent = pair[4];
    const head = make("tr", make("td", "", "name"));
    for (const side of [0, 1]) {
      const name = make("th", make("bdi", pair[side]));
      name.scope = "col";
      head.append(name);
    }
    byId("card-fields").replaceChildren(head, ...fields.flatMap((field, k) => {
      const both = pair[3][k];
      if (both === "") return [];
      const name = make("th", field, "name"), row = make("tr", name, typeof both === "string" ? "same" : "");
      name.scope = "row";
      for (const side of [0, 1]) {
        const cell = make("td", written(both, side));
        cell.dir = "auto";
        row.append(cell);
      }
      return [row];
    }));
    note.value = notes[at];
    byId("previous").disabled = at === 0;
    byId("next").disabled = at + 1 === pairs.length;
    byId("undo").disabled = past.length === 0;
    for (const each of verdicts) each.ariaPressed = String(Number(each.dataset.verdict) === label);
    for (const row of listing.querySelectorAll("tr[data-index]")) {
      row.ariaCurrent = String(Number(row.dataset.index) === at);
    }
    const counts = WORDS.map((_, k) => labels.filter((each) => each === k).length);
    const judged = pairs.length - counts[0];
    byId("progress").value = judged;
    byId("judged").textContent = `${format(judged)} of ${format(pairs.length)} judged: `
      + `${format(counts[1])} yes, ${format(counts[2])} no, ${format(counts[3])} unsure`;
    byId("download").disabled = judged === 0;
    byId("status").textContent = text;
  }

  function mark(index, label) {
    labels[index] = label;
    remember();
    listing.refresh(index, [WORDS[label], ...listing.rows[index].slice(1)]);
  }

  function judge(label) {
    keepNote();
    past.push([at, labels[at]]);
    mark(at, label);
    if (at + 1 < pairs.length) at += 1;
    show(`${WORDS[label]}; pair ${format(at + 1)}`);
  }

  function undo() {
    if (past.length === 0) return;
    keepNote();
    const [index, label] = past.pop();
    mark(index, label);
    at = index;
    show(`undone; pair ${format(at + 1)}`);
  }

  function go(place) {
    if (place < 0 || place >= pairs.length) return;
    keepNote();
    at = place;
    show(`pair ${format(at + 1)}`);
  }

  function keepNote() {
    if (notes[at] === note.value) return;
    notes[at] = note.value;
    remember();
  }

  function download() {
    keepNote();
    const lines = [columns];
    pairs.forEach((pair, i) => {
      if (labels[i]) lines.push([pair[0], pair[1], WORDS[labels[i]], pair[2], notes[i]]);
    });
    const quoted = (value) => `"${String(value ?? "").replaceAll('"', '""')}"`;
    // Spreadsheets recognise UTF-8 by the mark at its start.
    const text = `\ufeff${lines.map((line) => line.map(quoted).join(",")).join("\r\n")}\r\n`;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = "labels.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  const KEYS = {
    y: () => judge(1), n: () => judge(2), u: () => judge(3), z: undo, e: () => note.focus(),
    j: () => go(at + 1), k: () => go(at - 1), ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1),
  };
  document.addEventListener("keydown", (event) => {
    if (event.target === note && (event.key === "Escape" || event.key === "Enter")) {
      keepNote();
      byId("next").focus();
      return;
    }
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.closest("input:not([type=checkbox])") || event.ctrlKey || event.altKey || event.metaKey) return;
    const act = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
    if (!act || !byId("keys").checked || (event.key.startsWith("Arrow") && target.closest("[tabindex]"))) return;
    event.preventDefault();
    act();
  });
  for (const each of verdicts) each.addEventListener("click", () => judge(Number(each.dataset.verdict)));
  byId("undo").addEventListener("click", undo);
  byId("next").addEventListener("click", () => go(at + 1));
  byId("previous").addEventListener("click", () => go(at - 1));
  byId("download").addEventListener("click", download);
  note.addEventListener("change", keepNote);
  listing.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-index]");
    if (row === null) return;
    go(Number(row.dataset.index));
    byId("judge").scrollIntoView();
  });
  inBrowser(() => {
    const known = JSON.parse(localStorage.getItem(key)) ?? { labels, notes };
    for (const i of labels.keys()) {
      notes[i] = known.notes[i];
      if (known.labels[i] !== labels[i]) mark(i, known.labels[i]);
    }
  });
  at = Math.max(0, labels.indexOf(0));
  show();
})();
