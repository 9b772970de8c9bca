"use strict";
// Pages are read without a script, too. Texts that have more than is seen can be scrolled with keys.
(() => {
  for (const text of document.querySelectorAll(".text")) {
    if (text.scrollHeight > text.clientHeight) text.tabIndex = 0;
  }
})();
