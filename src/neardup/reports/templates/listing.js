// Every passage in a table, of which as many rows are laid out as are looked at.
(() => {
  const source = document.getElementById("listing-data");
  if (source === null) return;
  const { names, passages } = JSON.parse(source.textContent);
  const AT_ONCE = 100, PRINTED = 2000;
  const byId = (name) => document.getElementById(`listing-${name}`);
  const words = byId("words"), chosen = byId("document"), least = byId("least");
  const more = byId("more"), body = byId("rows").querySelector("tbody");
  const heads = [...byId("rows").querySelectorAll("[data-by]")];
  const format = (number) => number.toLocaleString("en");
  const length = (row) => Math.max(row[2] - row[1], row[5] - row[4]);
  // What is looked for in: texts, names, and places as they are cited, in small letters.
  const haystacks = passages.map((row) => {
    const texts = [row[7], row[8], names[row[0]], names[row[3]], row[9], row[10]];
    return texts.map((each) => each ?? "").join("\n").toLowerCase();
  });
  let found = [], by = null, falls = false, n = 0;

  function cell(row, content, kind) {
    const element = document.createElement("td");
    if (kind) element.className = kind;
    element.append(content);
    row.append(element);
    return element;
  }

  function place(row, number, start, stop, cited) {
    const name = document.createElement("bdi"), where = document.createElement("span");
    name.textContent = names[number];
    where.className = "place";
    const characters = `${format(start)}–${format(stop)}`;
    where.textContent = ` ${cited || characters}`;
    if (cited) where.title = `characters ${characters}`;
    cell(row, name).append(where);
  }

  function text(row, content) {
    const element = cell(row, content ?? "not on this page", content === null ? "nothing" : "words");
    element.dir = "auto";
  }

  function line(index) {
    const passage = passages[index], row = document.createElement("tr");
    place(row, ...passage.slice(0, 3), passage[9]);
    text(row, passage[7]);
    place(row, ...passage.slice(3, 6), passage[10]);
    text(row, passage[8]);
    cell(row, format(length(passage)), "figure");
    cell(row, passage[6] === null ? "" : passage[6].toFixed(4), "figure");
    return row;
  }

  function show(number) {
    const next = found.slice(n, number).map(line);
    body.append(...next);
    n += next.length;
    more.hidden = n >= found.length;
  }

  function look() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const document_ = chosen.value === "" ? null : Number(chosen.value), shortest = Number(least.value);
    found = [];
    passages.forEach((row, index) => {
      if (document_ !== null && row[0] !== document_ && row[3] !== document_) return;
      if (length(row) < shortest) return;
      if (wanted.every((word) => haystacks[index].includes(word))) found.push(index);
    });
    if (by !== null) {
      const value = by === "length" ? length : (row) => row[by] ?? -1, sign = falls ? -1 : 1;
      found.sort((a, b) => sign * (value(passages[a]) - value(passages[b])) || a - b);
    }
    n = 0;
    body.replaceChildren();
    show(AT_ONCE);
    const all = passages.length;
    byId("count").textContent = found.length === all
      ? `${format(all)} ${all === 1 ? "passage" : "passages"}`
      : `${format(found.length)} of ${format(all)} passages`;
  }

  names.forEach((name, i) => chosen.append(new Option(name, i)));
  for (const control of [words, least]) control.addEventListener("input", look);
  chosen.addEventListener("change", look);
  for (const head of heads) {
    head.addEventListener("click", () => {
      const isText = head.dataset.by === "0" || head.dataset.by === "3";
      falls = by === head.dataset.by ? !falls : !isText;
      by = head.dataset.by;
      for (const each of heads) each.closest("th").removeAttribute("aria-sort");
      head.closest("th").setAttribute("aria-sort", falls ? "descending" : "ascending");
      look();
    });
  }
  more.addEventListener("click", () => show(n + AT_ONCE));
  new IntersectionObserver((seen) => {
    if (seen.some((each) => each.isIntersecting)) show(n + AT_ONCE);
  }, { root: byId("rows"), rootMargin: "300px" }).observe(more);
  addEventListener("beforeprint", () => {
    show(PRINTED);
    byId("printed").textContent = n < found.length
      ? `The first ${format(n)} of ${format(found.length)} passages are printed.` : "";
  });
  byId("section").hidden = false;
  look();
})();
