
"use strict";
// Marks are plain links and work without this. It lights a passage up in both texts, lets the
// passages themselves be clicked, and has one text go along where the other is read.
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

  const panes = ["a", "b"].map((name) => document.getElementById(name));
  const follow = document.getElementById("follow");
  if (panes.includes(null) || follow === null) return;
  let leader = null;

  // Where a passage begins and ends in a pane, and where one looks in it.
  function extent(pane, number) {
    const parts = pane.querySelectorAll(`.part[data-p~="${number}"]`);
    if (parts.length === 0) return null;
    const top = parts[0].getBoundingClientRect().top;
    return [top, parts[parts.length - 1].getBoundingClientRect().bottom - top];
  }

  const eyes = (pane) => pane.getBoundingClientRect().top + pane.clientHeight / 3;

  // The passage that one looks at; what is just above or below it, if that is none.
  function seen(pane) {
    const { left, width } = pane.getBoundingClientRect();
    for (const shift of [0, 12, -12, 24, -24, 48, -48]) {
      for (const share of [0.1, 0.5]) {
        const [part, number] = passageAt(
          document.elementFromPoint(left + share * width, eyes(pane) + shift),
        );
        if (part !== null && pane.contains(part)) return number;
      }
    }
    return null;
  }

  function lead(side) {
    const pane = panes[side], other = panes[1 - side], number = seen(pane);
    const here = number && extent(pane, number), there = number && extent(other, number);
    if (!here || !there) return;
    const share = Math.min(Math.max((eyes(pane) - here[0]) / Math.max(here[1], 1), 0), 1);
    other.scrollTop += there[0] + share * there[1] - eyes(other);
  }

  panes.forEach((pane, side) => {
    for (const kind of ["wheel", "pointerdown", "keydown", "touchstart"]) {
      pane.addEventListener(kind, () => { leader = side; }, { passive: true });
    }
    let waits = false;
    pane.addEventListener("scroll", () => {
      if (waits || leader !== side || !follow.checked) return;
      waits = true;
      requestAnimationFrame(() => {
        waits = false;
        lead(side);
      });
    }, { passive: true });
  });
  // At the start the first passage stands at one height in both.
  const [first, partner] = panes.map((pane) => extent(pane, 1));
  if (first && partner && location.hash === "") {
    const inView = panes[0].getBoundingClientRect().top + panes[0].clientHeight / 2;
    panes[0].scrollTop += Math.max(first[0] - inView, 0);
    panes[1].scrollTop += partner[0] - extent(panes[0], 1)[0];
  }
  follow.closest("[hidden]").hidden = false;
})();
