/* A table or formula that is wider than the screen scrolls; a tab stop lets the keyboard scroll it. */

function giveTabStops() {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .course-math")) {
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}

addEventListener("load", giveTabStops);
addEventListener("resize", giveTabStops);
