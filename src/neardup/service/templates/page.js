
// The pages work without this. It takes files that are dropped or chosen into a text field, sends a
// form with Control and Enter, and takes the reader to what was found.
(() => {
  for (const part of document.querySelectorAll(".scripted")) part.hidden = false;

  async function take(files, field) {
    if (files.length === 0) return;
    field.value = await files[0].text();
    field.focus();
  }

  for (const input of document.querySelectorAll("input[type=file]")) {
    const field = document.getElementById(input.dataset.into);
    input.addEventListener("change", () => take(input.files, field));
  }
  for (const field of document.querySelectorAll("[data-drop]")) {
    const mark = (event, is_over) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      field.classList.toggle("dropping", is_over);
    };
    field.addEventListener("dragover", (event) => mark(event, true));
    field.addEventListener("dragleave", (event) => mark(event, false));
    field.addEventListener("drop", (event) => {
      mark(event, false);
      take(event.dataTransfer.files, field);
    });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) field.form.requestSubmit();
    });
  }
  const found = document.querySelector("[data-focus]");
  if (found !== null) {
    found.focus({ preventScroll: true });
    found.scrollIntoView();
  }
})();
