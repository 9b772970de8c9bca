"use strict";
// Pages can be read without a script. Texts that are longer than their box scroll by keyboard.
(() => {
  for (const text of document.querySelectorAll(".text")) {
    if (text.scrollHeight > text.clientHeight) text.tabIndex = 0;
  }
  // In a notebook the page is the source of a frame, so "#place" would be a place of the notebook.
  if (location.protocol === "about:") {
    document.addEventListener("click", (event) => {
      const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
      const place = link && document.getElementById(link.hash.slice(1));
      if (!place) return;
      event.preventDefault();
      if (place.tabIndex < 0) place.tabIndex = -1;
      place.focus({ preventScroll: true });
      place.scrollIntoView();
    });
  }
})();
// Tables are searched and sorted, and have as many rows laid out as the reader looks at.
(() => {
  const AT_ONCE = 100, PRINTED = 2000;
  const format = (number) => number.toLocaleString("en");
  const pictures = (text) => text
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\u007f/g, "\u2421");

  function listing(box) {
    const source = document.getElementById(`${box.id}-rows`);
    if (source === null) return;
    const { kinds, rows, first } = JSON.parse(source.textContent);
    rows.forEach((row, i) => row.forEach((cell, k) => { if (cell === true) row[k] = rows[i - 1][k]; }));
    const region = box.querySelector(".scrolled"), body = region.querySelector("tbody");
    const count = box.querySelector("[role=status]"), all = box.querySelector(".about button");
    const input = box.querySelector("input"), heads = [...region.querySelectorAll("th")];
    const haystacks = [];
    let found = [...rows.keys()], n = 0, most = first, by = -1, falls = false;

    function write(cell, column) {
      if (typeof cell !== "number") return pictures(cell ?? "");
      return kinds[column] === "share" ? cell.toFixed(4) : format(cell);
    }

    function line(index) {
      const row = document.createElement("tr");
      row.dataset.index = index;
      rows[index].forEach((cell, column) => {
        const text = document.createElement("span"), place = row.insertCell();
        text.dir = "auto";
        text.textContent = write(cell, column);
        if (typeof cell === "number") place.className = "figure";
        else if (kinds[column] === "words") place.className = "words";
        place.append(text);
      });
      return row;
    }

    function show(number) {
      const next = found.slice(n, Math.min(number, most)).map(line);
      body.append(...next);
      n += next.length;
      count.textContent = found.length === rows.length || !input.value
        ? `${format(Math.min(most, found.length))} of ${format(rows.length)}`
        : `${format(Math.min(most, found.length))} of ${format(found.length)} found among ${format(rows.length)}`;
      all.hidden = most >= found.length;
      all.textContent = `Show all ${format(found.length)}`;
    }

    function look() {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length && !haystacks.length) {
        for (const row of rows) haystacks.push(row.map(write).join("\n").toLowerCase());
      }
      found = [...rows.keys()].filter((i) => words.every((word) => haystacks[i].includes(word)));
      if (by >= 0) {
        const sign = falls ? -1 : 1;
        const order = (a, b) => (a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -sign : sign);
        // Percentages are text, and ordered as numbers.
        const value = (cell) => (/^[\d.]+ %$/.test(cell) ? parseFloat(cell) : cell);
        found.sort((a, b) => order(value(rows[a][by]), value(rows[b][by])) || a - b);
      }
      n = 0;
      body.replaceChildren();
      show(AT_ONCE);
    }

    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        falls = by === column ? !falls : !["text", "words"].includes(kinds[column]);
        by = column;
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", falls ? "descending" : "ascending");
        look();
      });
    });
    input.addEventListener("input", look);
    all.addEventListener("click", () => {
      most = Infinity;
      show(n + AT_ONCE);
    });
    region.addEventListener("scroll", () => {
      if (region.scrollTop + 2 * region.clientHeight > region.scrollHeight) show(n + AT_ONCE);
    }, { passive: true });
    addEventListener("beforeprint", () => {
      if (most === Infinity) show(PRINTED);
    });
    input.closest("[hidden]").hidden = false;
    look();
    box.rows = rows;
    box.refresh = (index, row) => {
      rows[index] = row;
      body.querySelector(`[data-index="${index}"]`)?.replaceWith(line(index));
    };
  }

  for (const box of document.querySelectorAll(".listing")) listing(box);
})();
