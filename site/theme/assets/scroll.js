/* What is wider than the screen scrolls; a tab stop lets the keyboard scroll it. */

const wide = ".md-typeset__scrollwrap, .course-math, .md-typeset p:has(> img:only-child)";

function giveTabStops() {
  for (const box of document.querySelectorAll(wide)) {
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}

addEventListener("load", giveTabStops);
addEventListener("resize", giveTabStops);
