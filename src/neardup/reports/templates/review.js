// Pairs are judged one after the other. Only the pair that is seen is laid out, and of the list as
// many rows as are looked at; judgements are kept in the browser under the digest of the page.
(() => {
  const source = document.getElementById("review-data");
  if (source === null) return;
  const data = JSON.parse(source.textContent);
  const { pairs, fields, facts, pivot, key, is_count, ranked_by } = data;
  if (pairs.length === 0) return;
  const WORDS = ["", "yes", "no", "unsure"], AT_ONCE = 100, PRINTED = 2000;
  const byId = (id) => document.getElementById(id);
  const format = (number) => number.toLocaleString("en");
  const note = byId("note"), body = byId("list").querySelector("tbody"), more = byId("more");
  const verdicts = [...document.querySelectorAll("[data-verdict]")];
  // What is known of each pair, by its place in the page.
  const labels = pairs.map((pair) => pair[5]), notes = pairs.map((pair) => pair[6]);
  // What can be taken back: pair, label.
  const past = [];
  let found = [], at = 0, n_listed = 0, haystacks = null;

  // The browser's memory, which a frame of a notebook has none of.
  let is_kept = true;
  function inBrowser(act) {
    try {
      return act();
    } catch {
      is_kept = false;
      return null;
    }
  }

  function remember() {
    inBrowser(() => {
      const noted = notes.flatMap((text, i) => (text === "" ? [] : [[i, text]]));
      localStorage.setItem(key, JSON.stringify({ labels: labels.join(""), notes: noted }));
    });
    byId("storage").hidden = is_kept;
  }

  function recall() {
    inBrowser(() => {
      const known = JSON.parse(localStorage.getItem(key));
      if (known === null) return;
      for (const i of labels.keys()) {
        labels[i] = Number(known.labels[i]);
        notes[i] = "";
      }
      for (const [i, text] of known.notes) notes[i] = text;
    });
    byId("storage").hidden = is_kept;
  }

  // Values of fields: what both have, what one has, and numbers of words left out.
  function make(tag, content = "", kind = "") {
    const element = document.createElement(tag);
    if (content !== "") element.append(content);
    if (kind) element.className = kind;
    return element;
  }

  function written(runs) {
    const value = document.createDocumentFragment();
    for (const run of runs) {
      if (typeof run === "number") {
        value.append(make("span", ` … ${format(run)} ${run === 1 ? "word" : "words"} … `, "omitted"));
      } else if (typeof run === "string") {
        value.append(run);
      } else {
        // What stands behind the last word is no difference.
        const text = run[0].trimEnd();
        value.append(make("mark", text), run[0].slice(text.length));
      }
    }
    return value;
  }

  const runsOf = (value, side) => (typeof value === "string" ? [value] : value[side]);
  const textOf = (value, side) => runsOf(value, side)
    .map((run) => (typeof run === "number" ? " … " : String(run))).join("");
  const isEmpty = (value, side) => textOf(value, side) === "";
  const similarity = (value) => (value === null ? "" : is_count ? format(value) : value.toFixed(4));

  function cell(value, side) {
    const box = make("div", isEmpty(value, side) ? "empty" : written(runsOf(value, side)));
    if (isEmpty(value, side)) box.className = "lacks";
    else box.dir = "auto";
    const element = make("td", box);
    element.setAttribute("role", "cell");
    return element;
  }

  function head(text, role, kind = "") {
    const name = make("bdi", text), element = make("th", name, kind);
    element.scope = role === "rowheader" ? "row" : "col";
    element.setAttribute("role", role);
    return element;
  }

  // Rows and cells say their roles, for on a phone they are no table to look at.
  function grid(pair) {
    const table = make("table", "", "fields"), top = make("thead"), rest = make("tbody");
    const names = make("tr");
    names.append(head("", "columnheader", "name"), head(pair[0], "columnheader"), head(pair[1], "columnheader"));
    names.firstChild.replaceWith(make("td", "", "name"));
    top.append(names);
    fields.forEach((field, k) => {
      const value = pair[3][k];
      if (value === "") return;
      const row = make("tr", "", typeof value === "string" ? "same" : "");
      row.append(head(field, "rowheader", "name"), cell(value, 0), cell(value, 1));
      rest.append(row);
    });
    table.setAttribute("role", "table");
    for (const part of [top, rest]) part.setAttribute("role", "rowgroup");
    for (const row of [...top.rows, ...rest.rows]) row.setAttribute("role", "row");
    names.firstChild.setAttribute("role", "cell");
    table.append(top, rest);
    table.setAttribute("aria-label", "Fields of both");
    return table;
  }

  function show() {
    const index = found[at], is_there = index !== undefined;
    byId("card").hidden = !is_there;
    for (const each of [...verdicts, note]) each.disabled = !is_there;
    byId("previous").disabled = at === 0;
    byId("next").disabled = at + 1 >= found.length;
    byId("undo").disabled = past.length === 0;
    for (const row of body.rows) row.ariaCurrent = String(Number(row.dataset.index) === index);
    tell();
    if (!is_there) return;
    const pair = pairs[index], label = labels[index], title = byId("card-title");
    const value = pair[2] === null ? "" : ` · similarity ${similarity(pair[2])}`;
    title.replaceChildren(make("span", `Pair ${format(at + 1)} of ${format(found.length)}${value}`));
    if (label) title.append(make("span", WORDS[label], `verdict v${label}`));
    byId("card-facts").textContent = facts.flatMap((name, k) => {
      const fact = pair[4][k];
      if (fact === null || fact === "") return [];
      return [`${name.replaceAll("_", " ")} ${typeof fact === "number" ? +fact.toFixed(4) : fact}`];
    }).join(" · ");
    byId("card-fields").replaceChildren(grid(pair));
    for (const box of byId("card-fields").querySelectorAll("td div")) {
      if (box.scrollHeight > box.clientHeight) box.tabIndex = 0;
    }
    note.value = notes[index];
    for (const each of verdicts) each.ariaPressed = String(Number(each.dataset.verdict) === label);
  }

  function tell() {
    const counts = [0, 0, 0, 0];
    for (const label of labels) counts[label] += 1;
    const judged = pairs.length - counts[0];
    byId("progress").value = judged;
    byId("judged").textContent = `${format(judged)} of ${format(pairs.length)} judged: `
      + `${format(counts[1])} yes, ${format(counts[2])} no, ${format(counts[3])} unsure`;
    byId("download").disabled = judged === 0;
    byId("download").textContent = judged === 0 ? "Download as CSV" : `Download ${format(judged)} as CSV`;
  }

  function say(text) {
    byId("said").textContent = text;
  }

  function mark(index, label) {
    labels[index] = label;
    remember();
    const row = body.querySelector(`[data-index="${index}"]`);
    if (row) row.cells[1].textContent = WORDS[label];
  }

  function judge(label) {
    const index = found[at];
    if (index === undefined) return;
    keepNote();
    past.push([index, labels[index]]);
    mark(index, label);
    const is_last = at + 1 >= found.length;
    if (!is_last) at += 1;
    show();
    const next = is_last ? "That was the last of these pairs" : `pair ${format(at + 1)} of ${format(found.length)}`;
    say(`${WORDS[label]}; ${next}`);
  }

  function undo() {
    if (past.length === 0) return;
    keepNote();
    const [index, label] = past.pop();
    mark(index, label);
    // Filters may have left it out since.
    if (!found.includes(index)) found.splice(at, 0, index);
    at = found.indexOf(index);
    show();
    say(`taken back; pair ${format(at + 1)} of ${format(found.length)}`);
  }

  function go(place) {
    if (place < 0 || place >= found.length) return;
    keepNote();
    at = place;
    show();
    say(`pair ${format(at + 1)} of ${format(found.length)}`);
  }

  function keepNote() {
    const index = found[at];
    if (index === undefined || note.disabled || notes[index] === note.value) return;
    notes[index] = note.value;
    remember();
  }

  // Which pairs; the least certain first.
  const SHOWN = {
    all: () => true,
    open: (i) => labels[i] === 0,
    judged: (i) => labels[i] !== 0,
    noted: (i) => notes[i] !== "",
  };

  const certaintyOf = (pair) => Math.abs((ranked_by < 0 ? pair[2] : -pair[4][ranked_by]) - pivot);

  function haystack(pair) {
    const values = pair[3].flatMap((value) => (typeof value === "string" ? [value] : [textOf(value, 0), textOf(value, 1)]));
    return [pair[0], pair[1], ...values].join("\n").toLowerCase();
  }

  function look() {
    keepNote();
    const shown = byId("shown").value, wanted = byId("words").value.toLowerCase().split(/\s+/).filter(Boolean);
    const is_shown = SHOWN[shown] ?? ((i) => labels[i] === Number(shown));
    const bound = (id, none) => (byId(id).value === "" ? none : Number(byId(id).value));
    const least = bound("least", -Infinity), greatest = bound("greatest", Infinity);
    if (wanted.length && haystacks === null) haystacks = pairs.map(haystack);
    found = [...pairs.keys()].filter((i) => is_shown(i)
      && pairs[i][2] >= least && pairs[i][2] <= greatest
      && wanted.every((word) => haystacks[i].includes(word)));
    found.sort((i, j) => certaintyOf(pairs[i]) - certaintyOf(pairs[j]) || i - j);
    at = n_listed = 0;
    body.replaceChildren();
    list(AT_ONCE);
    byId("count").textContent = found.length === 0
      ? `None of ${format(pairs.length)} pairs is so.`
      : `${format(found.length)} of ${format(pairs.length)} pairs.`;
    show();
  }

  function list(number) {
    const rows = found.slice(n_listed, number).map((index, k) => {
      const pair = pairs[index], row = make("tr"), place = n_listed + k;
      const open = make("button", format(place + 1));
      open.type = "button";
      open.setAttribute("aria-label", `Open pair ${place + 1}`);
      row.dataset.index = index;
      row.append(make("td", open), make("td", WORDS[labels[index]]), make("td", similarity(pair[2]), "figure"));
      for (const side of [0, 1]) {
        const text = fields.map((_, f) => textOf(pair[3][f], side)).filter(Boolean).join(" · ") || pair[side];
        const name = make("span", text.length > 200 ? `${text.slice(0, 199)}…` : text);
        name.dir = "auto";
        row.append(make("td", name));
      }
      return row;
    });
    body.append(...rows);
    n_listed += rows.length;
    more.hidden = n_listed >= found.length;
  }

  // The file: all that was judged, here or before, in the order of the table.
  function download() {
    keepNote();
    const lines = [data.columns];
    pairs.forEach((pair, i) => {
      if (labels[i]) lines.push([pair[0], pair[1], WORDS[labels[i]], pair[2], notes[i]]);
    });
    const quoted = (value) => `"${String(value ?? "").replaceAll('"', '""')}"`;
    // With the mark by which spreadsheets know that it is UTF-8.
    const text = `\ufeff${lines.map((line) => line.map(quoted).join(",")).join("\r\n")}\r\n`;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = "labels.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    say(`${link.download} is downloaded`);
  }

  const KEYS = {
    y: () => judge(1), n: () => judge(2), u: () => judge(3), z: undo,
    j: () => go(at + 1), k: () => go(at - 1), ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1),
    e: () => note.focus(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.target === note && (event.key === "Escape" || event.key === "Enter")) {
      keepNote();
      byId("next").focus();
      return;
    }
    const is_typing = event.target instanceof Element && event.target.closest("input:not([type=checkbox]), select");
    if (is_typing || event.ctrlKey || event.altKey || event.metaKey || !byId("keys").checked) return;
    const act = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
    if (!act) return;
    // Keys of the arrows scroll a list that has the focus.
    if (event.key.startsWith("Arrow") && event.target.closest?.(".scrolled, [tabindex='0']")) return;
    event.preventDefault();
    act();
  });
  for (const each of verdicts) each.addEventListener("click", () => judge(Number(each.dataset.verdict)));
  byId("undo").addEventListener("click", undo);
  byId("next").addEventListener("click", () => go(at + 1));
  byId("previous").addEventListener("click", () => go(at - 1));
  note.addEventListener("change", keepNote);
  byId("shown").addEventListener("change", look);
  for (const id of ["words", "least", "greatest"]) byId(id).addEventListener("input", look);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("button")?.closest("tr");
    if (!row) return;
    go(found.indexOf(Number(row.dataset.index)));
    byId("judge").scrollIntoView();
  });
  more.addEventListener("click", () => list(n_listed + AT_ONCE));
  new IntersectionObserver((seen) => {
    if (seen.some((each) => each.isIntersecting)) list(n_listed + AT_ONCE);
  }, { root: byId("list"), rootMargin: "300px" }).observe(more);
  addEventListener("beforeprint", () => {
    list(PRINTED);
    byId("printed").textContent = n_listed < found.length
      ? `The first ${format(n_listed)} of ${format(found.length)} pairs are printed.` : "";
  });
  byId("download").addEventListener("click", download);
  recall();
  if (labels.every((label) => label !== 0)) byId("shown").value = "all";
  look();
})();
