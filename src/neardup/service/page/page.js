"use strict";
// One page over the operations of /v1. Texts only ever become text nodes.
const $ = (id) => document.getElementById(id);
const forms = ["look-up", "browse", "compare", "insert"];
const OPENING = 400, AROUND = 60, PAGE = 25;
let indexes = [];

class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

async function ask(method, path, values) {
  const headers = {};
  const token = sessionStorage.getItem("token");
  if (token) headers.authorization = `Bearer ${token}`;
  let body;
  if (method === "GET" && values) path += `?${new URLSearchParams(values)}`;
  else if (values) {
    headers["content-type"] = "application/json";
    body = JSON.stringify(values);
  }
  const answer = await fetch(path, { method, headers, body });
  const found = await answer.json();
  if (answer.ok) return found;
  throw new Problem(answer.status, found.detail || answer.statusText);
}

const current = () => indexes.find((each) => each.name === $("index").value) || indexes[0];
const below = (operation) => `/v1/indexes/${encodeURIComponent(current().name)}/${operation}`;
const given = (values) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
const shown = (similarity) => (Math.floor(similarity * 1000) / 1000).toFixed(3);
const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

// make("p", {className: "about"}, "text", another element)
function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function button(label, action, properties = {}) {
  return make("button", { type: "button", onclick: () => run(action), ...properties }, label);
}

function show(...children) {
  $("result").replaceChildren(...children);
  $("result").focus({ preventScroll: true });
}

async function run(action) {
  try {
    await action();
  } catch (error) {
    if (error.status === 401) signIn(error);
    else show(make("p", { className: "problem" }, error.message));
  }
}

function signIn(error) {
  for (const id of forms) $(id).hidden = true;
  $("sign-in").hidden = false;
  show(make("p", { className: "problem" }, error.message));
}

// Offsets count code points, of which a JavaScript string has one or two units.
function excerpt(text, [start, stop]) {
  const points = [...text];
  const before = points.slice(Math.max(start - AROUND, 0), start).join("");
  const after = points.slice(stop, stop + AROUND).join("");
  return box(before, make("mark", {}, points.slice(start, stop).join("")), after);
}

const box = (...children) => make("div", { className: "text", dir: "auto", tabIndex: 0, role: "group", ariaLabel: "Text" }, ...children);

// The ranges are marked; what the other text lacks in them is emphasised.
function marked(text, ranges, changes) {
  const points = [...text], inside = new Uint8Array(points.length), parts = [];
  for (const [start, stop] of ranges) inside.fill(1, start, stop);
  for (const [start, stop] of changes) inside.fill(2, start, stop);
  for (let at = 0, end; at < points.length; at = end) {
    for (end = at + 1; end < points.length && inside[end] === inside[at];) end += 1;
    const part = points.slice(at, end).join("");
    if (!inside[at]) parts.push(part);
    else parts.push(make("mark", {}, inside[at] === 2 ? make("b", {}, part) : part));
  }
  return box(...parts);
}

function columnsOf(document) {
  const columns = Object.entries(document).filter(([name, value]) => !["id", "text"].includes(name) && value !== null);
  return make("p", { className: "about", dir: "auto" }, columns.map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join(" · "));
}

const opening = (text) => (text.length > OPENING ? `${text.slice(0, OPENING)}…` : text);
const get = (id) => ask("GET", below("document"), { id });
const heading = (id, level = "h3") => make(level, {}, button(id, () => open(id), { className: "id" }));

async function compareWith(text, id) {
  const document = await get(id);
  await compare(text, document.text, "Your text", String(id));
}

async function compare(a, b, nameA = "Text A", nameB = "Text B") {
  const found = await ask("POST", "/v1/compare", { a, b });
  const jaccard = found.measures.jaccard;
  const side = (name, text, key) => {
    const ranges = found.passages.map((each) => each[key]);
    const changes = found.passages.flatMap((each) => each[`changes_${key}`] || []);
    return make("section", {}, make("h3", {}, make("bdi", {}, name)), marked(text, ranges, changes));
  };
  show(
    make("h2", {}, `Similarity ${shown(jaccard)}, ${count(found.passages.length, "shared passage")}`),
    make("div", { className: "pair" }, side(nameA, a, "a"), side(nameB, b, "b")),
  );
}

async function lookUp({ text, threshold }) {
  if (current().kind === "passages") return lookUpPassages(text, threshold);
  const asked = given({ text, threshold, limit: 20 });
  const found = await ask("POST", below("query"), asked);
  const title = found.n_matches ? count(found.n_matches, "similar document") : "Nothing similar";
  const list = make("div", {});
  show(make("h2", {}, title), list);
  let n = 0;
  const more = async (matches) => {
    for (const { id, similarity } of matches.slice(n)) {
      const document = await get(id);
      list.append(make("article", {}, heading(id), make("p", { className: "about" }, `similarity ${shown(similarity)} `, button("Compare", () => compareWith(text, id))), columnsOf(document), box(opening(document.text))));
    }
    n = matches.length;
    if (n < found.n_matches) {
      const next = button("Show more", async () => {
        next.remove();
        await more((await ask("POST", below("query"), { ...asked, limit: n + 20 })).matches);
      });
      list.append(next);
    }
  };
  await more(found.matches);
}

async function lookUpPassages(text, threshold) {
  const { rows, n_rows: n } = await ask("POST", below("align"), given({ documents: [text], threshold, with_text: true, limit: 100 }));
  rows.sort((one, other) => other.similarity - one.similarity);
  const articles = rows.map((row) => make("article", {},
    heading(row.doc_id), make("p", { className: "about" }, `similarity ${shown(row.similarity)}`),
    make("div", { className: "pair" }, excerpt(text, [row.query_start, row.query_end]), box(make("mark", {}, row.doc_text)))));
  const title = n ? `${count(n, "similar passage")}${n > rows.length ? `, ${rows.length} of them` : ""}` : "No similar passage";
  show(make("h2", {}, title), ...articles);
}

async function open(id) {
  const document = await get(id);
  const actions = [button("Look up", () => go("look-up", { text: document.text })), " ", button("Compare", () => go("compare", { a: document.text }))];
  if (current().writable) actions.push(" ", button("Remove", () => remove(id)));
  show(make("h2", {}, make("bdi", {}, String(id))), columnsOf(document), box(document.text), make("p", {}, ...actions));
}

async function remove(id) {
  if (!confirm(`Remove ${id} from ${current().name}?`)) return;
  const found = await ask("POST", below("remove"), { ids: [id] });
  show(make("p", {}, `${id} was removed. ${count(found.documents, "document")} left.`));
}

async function browse({ id }, start) {
  if (id) return open(id);
  const found = await ask("GET", below("documents"), given({ limit: PAGE, start: start || "" }));
  const articles = found.documents.map((document) => make("article", {}, heading(document.id), columnsOf(document), box(opening(document.text))));
  const next = found.next ? [button("Next page", () => browse({ id: "" }, found.next))] : [];
  show(make("h2", {}, `${current().name}: ${count(current().documents, "document")}`), ...articles, ...next);
}

async function insert({ id, text, columns }, how) {
  const document = { id, text, columns: columns ? JSON.parse(columns) : {} };
  if (current().kind === "passages") await ask("POST", below("add"), { documents: [document] });
  else if (how === "new") {
    const { similar_to: similar } = await ask("POST", below("insert-if-new"), document);
    if (similar !== null) return show(make("p", {}, "Not inserted; this document is similar: "), heading(similar));
  } else await ask("POST", below("insert"), document);
  show(make("p", {}, "Inserted: "), heading(id));
}

function go(place, values = {}) {
  for (const [name, value] of Object.entries(values)) $(place).elements[name].value = value;
  location.hash = place;
  view();
}

function view() {
  const place = forms.includes(location.hash.slice(1)) ? location.hash.slice(1) : "look-up";
  for (const id of forms) $(id).hidden = id !== place;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${place}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (const each of document.querySelectorAll(".documents")) each.hidden = current().kind !== "documents";
  document.title = `${$(place).querySelector("h2").textContent} - neardup`;
  $("result").replaceChildren();
}

async function start() {
  indexes = (await ask("GET", "/v1")).indexes;
  if (!indexes.length) throw new Error("The service has no index.");
  $("index").replaceChildren(...indexes.map((each) => make("option", { value: each.name }, each.name)));
  $("sign-in").hidden = true;
  view();
}

const actions = { "look-up": lookUp, browse, compare: ({ a, b }) => compare(a, b), insert };
for (const [id, action] of Object.entries(actions)) {
  $(id).addEventListener("submit", (event) => {
    event.preventDefault();
    run(() => action(Object.fromEntries(new FormData(event.target)), event.submitter && event.submitter.value));
  });
  $(id).addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $(id).requestSubmit($(id).querySelector("button"));
  });
}
$("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", $("token").value.trim());
  run(start);
});
$("index").addEventListener("change", view);
addEventListener("hashchange", view);
run(start);
