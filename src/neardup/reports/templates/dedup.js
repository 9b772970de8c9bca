// Removed documents, looked up by a part of their id, or of the id of the one that stays.
(() => {
  const form = document.getElementById("lookup-form");
  if (!form) return;
  const most = 50;
  const [input, count, region, body] =
    ["lookup-id", "lookup-count", "lookup-region", "lookup-rows"].map((id) => document.getElementById(id));
  let data = null;
  const read = () => data ??= JSON.parse(document.getElementById("removed-documents").textContent);
  // What nobody would see is shown by its picture, as everywhere on the page.
  const shown = (text) =>
    text.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
      .replace(/\u007f/g, "\u2421");
  const counted = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
  const find = (part) => {
    const all = read(), ranks = [[], [], []];
    const keeps = new Set();
    all.keeper.id.forEach((id, i) => { if (id.includes(part)) keeps.add(i); });
    all.id.forEach((id, i) => {
      const kept = all.kept[i];
      if (id === part || all.keeper.id[kept] === part) ranks[0].push(i);
      else if (id.startsWith(part)) ranks[1].push(i);
      else if (id.includes(part) || keeps.has(kept)) ranks[2].push(i);
    });
    return ranks.flat();
  };
  const cells = (i) => {
    const kept = data.kept[i], keeper = data.keeper, value = data.similarity[i];
    const similarity = data.copy[i] ? "exact copy" : value === null ? "not known" : (value / 10000).toFixed(4);
    const file = data.files[keeper.file[kept]];
    const where = file === null ? "in an index" : keeper.against[kept] ? `${file} (other collection)` : file;
    const row = keeper.row[kept];
    return [data.id[i], data.files[data.file[i]], data.row[i], similarity, keeper.id[kept], where, row ?? ""];
  };
  const show = () => {
    const part = input.value.trim();
    const found = part ? find(part) : [];
    body.replaceChildren(...found.slice(0, most).map((i) => {
      const row = document.createElement("tr");
      for (const value of cells(i)) {
        const cell = row.insertCell();
        if (typeof value === "number") {
          cell.className = "figure";
          cell.textContent = counted(value);
        } else cell.appendChild(document.createElement("bdi")).textContent = shown(value);
      }
      return row;
    }));
    region.hidden = !found.length;
    if (!part) count.textContent = "";
    else if (!found.length) count.textContent = "No removed document that is listed here, and none that one went for, has this in its id.";
    else if (found.length > most) count.textContent = `${counted(found.length)} found; the first ${most} are shown.`;
    else count.textContent = `${found.length} found.`;
  };
  // Reading the data takes a moment, which nobody notices before something is typed.
  input.addEventListener("focus", read);
  input.addEventListener("input", show);
  form.hidden = false;
})();
