
"use strict";
// Marks are plain links and work without this. It lights a passage up in both texts, and lets the
// passages themselves be clicked.
(() => {
  const lit = new Map();

  function light(number, reason) {
    const old = lit.get(reason);
    if (old === number) return;
    lit.set(reason, number);
    for (const other of [old, number]) {
      if (other === undefined || other === null) continue;
      const is_on = [...lit.values()].includes(other);
      for (const part of document.querySelectorAll(`[data-p~="${other}"]`)) {
        part.classList.toggle("on", is_on);
      }
    }
  }

  function passageAt(target) {
    const part = target instanceof Element ? target.closest("[data-p]") : null;
    return part === null ? [null, null] : [part, part.dataset.p.split(" ").at(-1)];
  }

  document.addEventListener("mouseover", (event) => light(passageAt(event.target)[1], "pointer"));
  document.addEventListener("focusin", (event) => light(passageAt(event.target)[1], "focus"));
  document.addEventListener("click", (event) => {
    const [part, number] = passageAt(event.target);
    light(number, "click");
    if (part === null || part.classList.contains("mark")) return;
    const other = part.closest(".text").id === "a" ? "b" : "a";
    document.getElementById(`${other}-${number}`).scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") light(null, "click");
  });
})();
