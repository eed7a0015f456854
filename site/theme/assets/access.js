/* What the theme leaves out for keyboards and screen readers. */

/* What is wider than the screen scrolls; a tab stop lets the keyboard scroll it. */
const wide = ".md-typeset__scrollwrap, .course-math, .md-typeset p:has(> img:only-child)";

function giveTabStops() {
  for (const box of document.querySelectorAll(wide)) {
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}

/* The theme puts each copy button into a landmark; a page would have dozens of the same name. */
function dropLandmarks() {
  for (const box of document.querySelectorAll(".md-code__nav")) box.setAttribute("role", "none");
}

addEventListener("load", giveTabStops);
addEventListener("load", dropLandmarks);
addEventListener("resize", giveTabStops);
