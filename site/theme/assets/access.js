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

/* On a narrow screen the theme's menu is opened by labels, which have no tab stop; on Enter the theme
   clicks any that has the focus. On a wide one they are headings. */
const opens = '.md-header label[for="__drawer"], .md-nav--primary label[for]:not([for="__drawer"])';
const narrow = matchMedia("(max-width: 76.2344em)");

function openMenuByKeys() {
  for (const label of document.querySelectorAll(opens)) {
    label.toggleAttribute("data-opens", narrow.matches);
    if (narrow.matches) label.setAttribute("tabindex", "0");
    else label.removeAttribute("tabindex");
    if (narrow.matches) label.setAttribute("role", "button");
    else label.removeAttribute("role");
  }
  document.querySelector(opens).setAttribute("aria-label", "Menu");
}

function openOrClose(event) {
  const drawer = document.getElementById("__drawer");
  if (event.key === "Escape" && drawer.checked) drawer.click();
  if (event.key !== " " || !event.target.matches("[data-opens]")) return;
  event.preventDefault();
  event.target.click();
}

function tellWhatIsOpen() {
  for (const label of document.querySelectorAll("[data-opens]")) {
    label.setAttribute("aria-expanded", String(document.getElementById(label.htmlFor).checked));
  }
}

addEventListener("load", giveTabStops);
addEventListener("load", dropLandmarks);
for (const event of ["load", "resize"]) addEventListener(event, openMenuByKeys);
for (const event of ["load", "change"]) addEventListener(event, tellWhatIsOpen);
addEventListener("keydown", openOrClose);
addEventListener("resize", giveTabStops);
