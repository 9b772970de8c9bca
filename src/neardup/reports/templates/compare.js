"use strict";
// Marks are links and work without this. It lights a passage up in both texts, and a click on a
// passage scrolls the other text to it.
(() => {
  function passageAt(target) {
    const part = target instanceof Element ? target.closest("[data-p]") : null;
    return part === null ? [null, null] : [part, part.dataset.p.split(" ").at(-1)];
  }

  function light(number) {
    for (const part of document.querySelectorAll("[data-p]")) {
      part.classList.toggle("on", number !== null && part.dataset.p.split(" ").includes(number));
    }
  }

  document.addEventListener("focusin", (event) => light(passageAt(event.target)[1]));
  document.addEventListener("click", (event) => {
    const [part, number] = passageAt(event.target);
    light(number);
    if (part === null || part.classList.contains("mark")) return;
    const other = part.closest(".text").id === "a" ? "b" : "a";
    const mark = document.getElementById(`${other}-${number}`), pane = document.getElementById(other);
    // Both passages stand at the same height.
    const height = part.getBoundingClientRect().top - part.closest(".text").getBoundingClientRect().top;
    pane.scrollTop += mark.getBoundingClientRect().top - pane.getBoundingClientRect().top - height;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") light(null);
  });
})();
