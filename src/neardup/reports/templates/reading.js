// Two texts side by side. Texts are put in as blocks, of which the browser lays out those in view;
// what a text holds is never parsed as markup.
(() => {
  const source = document.getElementById("reading-data");
  if (source === null) return;
  const data = JSON.parse(source.textContent);
  const BLOCK = 600, MOST = 4500, COLOURS = 12, SVG = "http://www.w3.org/2000/svg";
  const byId = (name) => document.getElementById(`reading-${name}`);
  const chooser = byId("pair"), follow = byId("follow"), where = byId("where");
  const sides = ["a", "b"].map((name) => ({
    name, pane: byId(name), map: byId(`map-${name}`), title: byId(`title-${name}`),
  }));
  const elements = new Map();
  let pair = null, current = 0, leader = null, lit = 0;

  // Where blocks end: behind a line; where lines are long behind a sentence or a word, or anywhere.
  function cuts(text) {
    const places = [0];
    for (let start = 0; text.length - start > 2 * BLOCK;) {
      let stop = text.indexOf("\n", start + BLOCK) + 1;
      if (stop === 0 || stop > start + MOST) {
        const piece = text.slice(start + MOST / 2, start + MOST);
        const found = /[.!?。！？]['"’”)]*\s+|[。！？]/u.exec(piece) ?? /\s+/.exec(piece);
        stop = start + MOST / 2 + (found === null ? piece.length : found.index + found[0].length);
        const code = text.charCodeAt(stop);
        if (code >= 0xdc00 && code < 0xe000) stop += 1;
      }
      places.push(stop);
      start = stop;
    }
    if (text.length) places.push(text.length);
    return places;
  }

  function mark(side, number, n, passage) {
    const link = document.createElement("a"), other = side === 0 ? "B" : "A";
    const moved = passage.moved ? ", moved" : "";
    link.className = `mark c${(number - 1) % COLOURS}${passage.moved ? " moved" : ""}`;
    link.href = `#${"ba"[side]}-${number}`;
    link.id = `${"ab"[side]}-${number}`;
    link.dataset.p = number;
    link.dataset.n = passage.moved ? `${number} ⇅` : number;
    link.setAttribute("aria-label", `Passage ${number} of ${n}${moved}: go to it in ${other}`);
    return link;
  }

  // Puts a text into a pane, cut at the ends of blocks, passages and changes.
  function show(side, passages) {
    const { pane } = sides[side], text = data.documents[pair.documents[side]].text;
    const events = new Map(), at = (place) => {
      if (!events.has(place)) events.set(place, { starts: [], stops: [], changes: [] });
      return events.get(place);
    };
    passages.forEach((passage, i) => {
      at(passage.places[side][0]).starts.push(i + 1);
      at(passage.places[side][1]).stops.push(i + 1);
      for (const place of passage.changes?.[side] ?? []) at(place).changes.push(i + 1);
    });
    const places = [...events.keys()].sort((x, y) => x - y);
    const bounds = cuts(text), inside = new Set(), changed = new Set(), blocks = [];
    let next = 0;
    const step = (block, place) => {
      const { starts, stops, changes } = events.get(place);
      for (const number of stops) inside.delete(number);
      for (const number of starts) {
        inside.add(number);
        const link = mark(side, number, passages.length, passages[number - 1]);
        remember(number, link);
        block.append(link);
      }
      for (const number of changes) {
        if (!changed.delete(number)) changed.add(number);
      }
    };
    const put = (block, piece) => {
      if (piece === "") return;
      if (inside.size === 0) return block.append(piece);
      const numbers = [...inside], last = numbers.at(-1), part = document.createElement("span");
      part.className = `part c${(last - 1) % COLOURS}`;
      part.classList.toggle("many", numbers.length > 1);
      part.classList.toggle("new", changed.has(last));
      part.classList.toggle("moved", passages[last - 1].moved);
      part.dataset.p = numbers.join(" ");
      part.textContent = piece;
      for (const number of numbers) remember(number, part);
      block.append(part);
    };
    for (let i = 1; i < bounds.length; i += 1) {
      const block = document.createElement("div");
      let place = bounds[i - 1];
      while (next < places.length && places[next] < bounds[i]) {
        put(block, text.slice(place, places[next]));
        place = places[next];
        step(block, place);
        next += 1;
      }
      put(block, text.slice(place, bounds[i]));
      block.className = `block s${Math.min(Math.ceil((bounds[i] - bounds[i - 1]) / 250), 18)}`;
      blocks.push(block);
    }
    pane.replaceChildren(...blocks);
    pane.scrollTop = 0;
    Object.assign(sides[side], { bounds, blocks, length: text.length });
  }

  function shape(kind, attributes, parent) {
    const element = document.createElementNS(SVG, kind);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    parent?.append(element);
    return element;
  }

  // The map beside the scroll bar: where passages are in the whole text, and what is in view.
  function drawMap(side, passages) {
    const { map, length } = sides[side];
    map.replaceChildren();
    passages.forEach((passage, i) => {
      const [start, stop] = passage.places[side].map((place) => (1000 * place) / length);
      const kind = `c${i % COLOURS}${passage.moved ? " moved" : ""}`;
      const height = Math.max(stop - start, 2);
      shape("rect", { x: 0, y: start, width: 10, height, class: kind }, map);
    });
    sides[side].view = shape("rect", { x: 0, y: 0, width: 10, height: 0, class: "view" }, map);
  }

  // Both texts as lines, their passages as bands from one to the other; what crosses has moved.
  function drawBands(passages) {
    const bands = byId("bands");
    bands.replaceChildren();
    const longest = Math.max(sides[0].length, sides[1].length, 1);
    sides.forEach(({ length }, side) => {
      const y = side === 0 ? 0 : 110;
      shape("rect", { x: 0, y, width: (1000 * length) / longest, height: 10, class: "line" }, bands);
    });
    passages.forEach((passage, i) => {
      const [a, b] = passage.places.map((place) => place.map((x) => (1000 * x) / longest));
      for (const place of [a, b]) place[1] = Math.max(place[1], place[0] + 1);
      const path = `M${a[0]},0V10C${a[0]},60,${b[0]},60,${b[0]},110V120H${b[1]}V110` +
        `C${b[1]},60,${a[1]},60,${a[1]},10V0Z`;
      const kind = `band c${i % COLOURS}${passage.moved ? " moved" : ""}`;
      const band = shape("path", { d: path, class: kind, "data-p": i + 1 }, bands);
      shape("title", {}, band).textContent = describe(i + 1);
      remember(i + 1, band);
    });
  }

  function describe(number) {
    const passage = pair.passages[number - 1];
    const similarity = passage.similarity === null ? "" : `, similarity ${passage.similarity}`;
    const moved = passage.moved ? ", moved: in another order in the other text" : "";
    const cited = passage.cited ? `, ${passage.cited.join(" and ")}` : "";
    return `Passage ${number} of ${pair.passages.length}${cited}${similarity}${moved}`;
  }

  // Elements of each passage, so that none have to be looked for in long texts.
  function remember(number, element) {
    if (!elements.has(number)) elements.set(number, []);
    elements.get(number).push(element);
  }

  function light(number) {
    for (const element of elements.get(lit) ?? []) element.classList.remove("on");
    for (const element of elements.get(number) ?? []) element.classList.add("on");
    lit = number;
  }

  // Scrolls a pane to a passage. Blocks that come into view change their heights, so it looks again
  // until the passage stays where it is, or the reader goes elsewhere.
  function reveal(side, number, left = 12) {
    const { pane, name } = sides[side], target = document.getElementById(`${name}-${number}`);
    const top = target.getBoundingClientRect().top - pane.getBoundingClientRect().top;
    const before = pane.scrollTop;
    pane.scrollTop += top - pane.clientHeight / 4;
    const stays = pane.scrollTop === before ? left - 4 : left - 1;
    if (stays > 0) {
      requestAnimationFrame(() => {
        if (current === number && leader === null) reveal(side, number, stays);
      });
    }
  }

  function go(number, only = null) {
    current = number;
    leader = null;
    sides.forEach((_, side) => {
      if (only === null || only === side) reveal(side, number);
    });
    light(number);
    where.textContent = describe(number);
  }

  // The character at the top of a pane, and the height of a character.
  function placeInView(side, offset) {
    const { pane, blocks, bounds } = sides[side], top = pane.scrollTop + offset;
    let low = 0, high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (blocks[middle].offsetTop <= top) low = middle;
      else high = middle - 1;
    }
    const block = blocks[low], share = (top - block.offsetTop) / Math.max(block.offsetHeight, 1);
    return bounds[low] + Math.min(Math.max(share, 0), 1) * (bounds[low + 1] - bounds[low]);
  }

  // Laying out a screen of text anew takes time: a leap waits until the reader rests.
  function isLeap(pane, before, after) {
    return Math.abs(after - before) > 1.5 * pane.clientHeight;
  }

  function bring(side, place, offset, mayLeap = true) {
    const { pane, blocks, bounds } = sides[side];
    let low = 0, high = blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (bounds[middle] <= place) low = middle;
      else high = middle - 1;
    }
    const share = (place - bounds[low]) / Math.max(bounds[low + 1] - bounds[low], 1);
    const top = blocks[low].offsetTop + share * blocks[low].offsetHeight - offset;
    if (mayLeap || !isLeap(pane, pane.scrollTop, top)) pane.scrollTop = top;
  }

  // The other text goes along while the reader is inside a passage.
  function lead(side, mayLeap) {
    const offset = sides[side].pane.clientHeight / 3, place = placeInView(side, offset);
    const inside = pair.passages.filter(({ places }) => {
      return places[side][0] <= place && place < places[side][1];
    });
    if (inside.length === 0) return;
    const { places } = inside.find((passage) => !passage.moved) ?? inside[0];
    const [start, stop] = places[side], [first, last] = places[1 - side];
    bring(1 - side, first + ((place - start) / (stop - start)) * (last - first), offset, mayLeap);
  }

  function look(side) {
    const { pane, view, length, blocks } = sides[side];
    if (!blocks.length) return;
    const start = placeInView(side, 0), stop = placeInView(side, pane.clientHeight);
    view.setAttribute("y", (1000 * start) / length);
    view.setAttribute("height", Math.max((1000 * (stop - start)) / length, 4));
  }

  // Blocks that come into view change their heights, so at rest it leads until nothing moves.
  function settle(side, left = 8) {
    if (leader !== side || !follow.checked) return;
    const { pane } = sides[1 - side], before = pane.scrollTop;
    lead(side, true);
    if (left && pane.scrollTop !== before) requestAnimationFrame(() => settle(side, left - 1));
  }

  const waiting = new Set();
  let rest;
  function scrolled(side) {
    if (leader === side) {
      clearTimeout(rest);
      rest = setTimeout(() => settle(side), 250);
    }
    if (waiting.has(side)) return;
    waiting.add(side);
    requestAnimationFrame(() => {
      waiting.delete(side);
      const { pane, before = 0 } = sides[side];
      const leaps = isLeap(pane, before, pane.scrollTop);
      sides[side].before = pane.scrollTop;
      if (leader === side && follow.checked && !leaps) lead(side, false);
      look(side);
    });
  }

  function choose(number) {
    pair = data.pairs[number];
    elements.clear();
    lit = 0;
    chooser.value = String(number);
    current = 0;
    const { passages } = pair;
    sides.forEach((side, i) => {
      const { name, note } = data.documents[pair.documents[i]];
      side.title.textContent = note ? `${name} (${note})` : name;
      side.pane.setAttribute("aria-label", `Text of ${name}`);
      show(i, passages);
      drawMap(i, passages);
    });
    drawBands(passages);
    sides.forEach((_, i) => look(i));
    where.textContent = passages.length === 1 ? "1 passage" : `${passages.length} passages`;
  }

  // What two texts share as it is printed: a row for each passage, with the words that only one has.
  function put(name, parent, content = "") {
    const element = document.createElement(name);
    element.append(content);
    parent.append(element);
    return element;
  }

  function passageText(passage, side) {
    const { text } = data.documents[pair.documents[side]], [start, stop] = passage.places[side];
    const cell = document.createElement("td"), bounds = passage.changes?.[side] ?? [];
    let place = start;
    bounds.forEach((bound, i) => {
      put(i % 2 ? "mark" : "span", cell, text.slice(place, bound));
      place = bound;
    });
    put("span", cell, text.slice(place, stop));
    cell.dir = "auto";
    return cell;
  }

  function fillCase() {
    const box = byId("case"), names = pair.documents.map((number) => {
      const { name, note } = data.documents[number];
      return note ? `${name} (${note})` : name;
    });
    box.replaceChildren();
    put("h2", box, "What two texts share");
    const table = put("table", box), head = put("tr", put("thead", table));
    put("th", head, "");
    for (const name of names) put("th", head, name);
    const body = put("tbody", table), texts = pair.documents.map((n) => data.documents[n].text);
    // Characters, of which some are two here.
    const count = (side, place) => [...texts[side].slice(0, place)].length.toLocaleString("en");
    pair.passages.forEach((passage, i) => {
      const row = put("tr", body), facts = put("th", row, `${i + 1}`);
      const places = passage.places.map((ends, side) => {
        const characters = ends.map((place) => count(side, place)).join("–");
        return passage.cited ? `${passage.cited[side]}, ${characters}` : characters;
      });
      const similarity = passage.similarity === null ? [] : [`similarity ${passage.similarity}`];
      const kind = passage.cited ? "" : "characters ";
      const lines = [`${kind}${places[0]}`, `and ${places[1]}`, ...similarity];
      for (const line of passage.moved ? [...lines, "moved"] : lines) put("small", facts, line);
      row.append(passageText(passage, 0), passageText(passage, 1));
    });
  }

  byId("print").addEventListener("click", () => {
    fillCase();
    document.body.classList.add("as-case");
    print();
  });
  addEventListener("afterprint", () => document.body.classList.remove("as-case"));
  data.pairs.forEach(({ label }, i) => chooser.append(new Option(label, i)));
  chooser.addEventListener("change", () => choose(Number(chooser.value)));
  function step(by) {
    const n = pair.passages.length;
    if (n) go(current === 0 && by < 0 ? n : ((current - 1 + by + n) % n) + 1);
  }
  byId("next").addEventListener("click", () => step(1));
  byId("previous").addEventListener("click", () => step(-1));
  sides.forEach(({ pane, map }, side) => {
    for (const kind of ["wheel", "pointerdown", "keydown", "touchstart"]) {
      pane.addEventListener(kind, () => { leader = side; }, { passive: true });
    }
    pane.addEventListener("scroll", () => scrolled(side), { passive: true });
    pane.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "n") step(1);
      if (event.key === "p") step(-1);
    });
    pane.addEventListener("click", (event) => {
      const part = event.target.closest("[data-p]");
      if (part === null) return;
      event.preventDefault();
      const number = Number(part.dataset.p.split(" ").at(-1));
      go(number, 1 - side);
      if (part.classList.contains("mark")) {
        document.getElementById(`${sides[1 - side].name}-${number}`).focus({ preventScroll: true });
      }
    });
    map.addEventListener("click", (event) => {
      const box = map.getBoundingClientRect(), { length, pane: own } = sides[side];
      leader = side;
      bring(side, (length * (event.clientY - box.top)) / box.height, own.clientHeight / 3);
    });
  });
  byId("bands").addEventListener("click", (event) => {
    const band = event.target.closest("[data-p]");
    if (band !== null) go(Number(band.dataset.p));
  });
  // The passage of the pair that begins nearest to a share of a text.
  function nearest(side, share) {
    const place = share * sides[side].length;
    const far = pair.passages.map(({ places }) => Math.abs(places[side][0] - place));
    return far.indexOf(Math.min(...far)) + 1;
  }

  // What leads to a pair here: links elsewhere in the page, and parts of texts that are drawn.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-pair]");
    if (link === null) return;
    const { pair: number, passage, side, at } = link.dataset;
    choose(Number(number));
    const wanted = at === undefined ? Number(passage ?? 0) : nearest(Number(side), Number(at));
    if (at !== undefined) byId("section").scrollIntoView();
    if (wanted) requestAnimationFrame(() => go(wanted));
  });
  new ResizeObserver(() => sides.forEach((side, i) => side.blocks && look(i))).observe(byId("texts"));
  byId("section").hidden = false;
  choose(0);
})();
