// One sheet as .xlsx: files of XML, stored in a zip. Cells are texts or numbers, never formulas.
function spreadsheet(rows) {
  const encode = (text) => new TextEncoder().encode(text);
  const ESCAPED = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  // What XML has no sign for, spreadsheets write as _x0001_, and that itself as _x005F_x0001_.
  const written = (text) => text
    .replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")
    .replaceAll(/[&<>"]/g, (sign) => ESCAPED[sign])
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      (sign) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`);
  const cell = (value) => (typeof value === "number" && Number.isFinite(value) ? `<c><v>${value}</v></c>`
    : `<c t="inlineStr"><is><t xml:space="preserve">${written(String(value ?? ""))}</t></is></c>`);
  const DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
  const OFFICE = "http://schemas.openxmlformats.org";
  const PARTS = "application/vnd.openxmlformats-officedocument.spreadsheetml";
  const relation = (name, target) => `<Relationships xmlns="${OFFICE}/package/2006/relationships">`
    + `<Relationship Id="r1" Type="${OFFICE}/officeDocument/2006/relationships/${name}" Target="${target}"/></Relationships>`;
  const main = `xmlns="${OFFICE}/spreadsheetml/2006/main"`;
  const lines = rows.map((row) => `<row>${row.map(cell).join("")}</row>`).join("");
  const last = `${String.fromCharCode(64 + rows[0].length)}${rows.length}`;
  const files = {
    "[Content_Types].xml": `<Types xmlns="${OFFICE}/package/2006/content-types">`
      + '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
      + `<Override PartName="/xl/workbook.xml" ContentType="${PARTS}.sheet.main+xml"/>`
      + `<Override PartName="/xl/sheet.xml" ContentType="${PARTS}.worksheet+xml"/></Types>`,
    "_rels/.rels": relation("officeDocument", "xl/workbook.xml"),
    "xl/workbook.xml": `<workbook ${main} xmlns:r="${OFFICE}/officeDocument/2006/relationships">`
      + '<sheets><sheet name="Labels" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": relation("worksheet", "sheet.xml"),
    "xl/sheet.xml": `<worksheet ${main}><sheetData>${lines}</sheetData><autoFilter ref="A1:${last}"/></worksheet>`,
  };

  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });
  const sum = (data) => ~data.reduce((crc, byte) => table[(crc ^ byte) & 255] ^ (crc >>> 8), ~0) >>> 0;
  const numbers = (...pairs) => {
    const data = new DataView(new ArrayBuffer(pairs.reduce((n, [size]) => n + size, 0)));
    let at = 0;
    for (const [size, value] of pairs) {
      if (size === 2) data.setUint16(at, value, true);
      else data.setUint32(at, value, true);
      at += size;
    }
    return new Uint8Array(data.buffer);
  };
  // As of 1 January 1980, the first day that a zip knows.
  const DAY = 33;
  const contents = [], entries = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const called = encode(name), data = encode(DECLARED + text);
    const about = [[2, 20], [2, 0x800], [2, 0], [2, 0], [2, DAY], [4, sum(data)], [4, data.length], [4, data.length],
      [2, called.length], [2, 0]];
    const head = numbers([4, 0x04034b50], ...about);
    contents.push(head, called, data);
    entries.push(numbers([4, 0x02014b50], [2, 20], ...about, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), called);
    offset += head.length + called.length + data.length;
  }
  const size = entries.reduce((n, part) => n + part.length, 0), n = Object.keys(files).length;
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], [2, n], [2, n], [4, size], [4, offset], [2, 0]);
  return new Blob([...contents, ...entries, end], { type: `${PARTS}.sheet` });
}
