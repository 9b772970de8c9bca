
// The pages work without this. It takes files that are dropped or chosen into a text field, sends a
// form with Control and Enter, moves the slider with the number and the number with the slider, and
// takes the reader to what was found.
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
      // As if its first button had been pressed, which may say what the form is for.
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      field.form.requestSubmit(field.form.querySelector("button"));
    });
  }

  const slider = document.getElementById("slider");
  if (slider !== null) {
    const number = document.getElementById("threshold");
    const index = document.getElementById("index");
    // Without a number the index's own is what counts; of documents nothing below it is found.
    const follow = () => {
      const { least, hint, lowest } = index.selectedOptions[0].dataset;
      number.placeholder = hint;
      slider.min = lowest || "0.01";
      slider.value = number.value || least;
    };
    slider.addEventListener("input", () => { number.value = slider.value; });
    number.addEventListener("input", follow);
    index.addEventListener("change", follow);
    follow();
  }

  const found = document.querySelector("[data-focus]");
  if (found !== null) {
    found.focus({ preventScroll: true });
    found.scrollIntoView();
  }
})();
