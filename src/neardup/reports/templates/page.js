"use strict";
// Pages are read without a script, too. Texts that have more than is seen can be scrolled with keys.
(() => {
  for (const text of document.querySelectorAll(".text")) {
    if (text.scrollHeight > text.clientHeight) text.tabIndex = 0;
  }
  // In a notebook the page is the text of a frame, where "#place" would be a place of the notebook.
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
