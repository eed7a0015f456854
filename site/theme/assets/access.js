/* What the theme leaves out for keyboards and screen readers. */

/* What is wider than the screen scrolls; a tab stop lets the keyboard scroll it. */
const wide = ".md-typeset__scrollwrap, .course-math, .md-typeset p:has(> img:only-child)";

function giveTabStops() {
  for (const box of document.querySelectorAll(wide)) {
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}

/* On a narrow screen the theme's menu is opened by labels, which have no tab stop and may not be
   buttons; so what is in them is one. On a wide screen they are headings. */
const opens = '.md-header label[for="__drawer"], .md-nav--primary label[for]:not([for="__drawer"])';
const narrow = matchMedia("(max-width: 76.2344em)");

function openMenuByKeys() {
  for (const label of document.querySelectorAll(opens)) {
    const inside = label.querySelector("span") ?? document.createElement("span");
    if (!inside.isConnected) {
      inside.append(...label.childNodes);
      label.append(inside);
    }
    inside.toggleAttribute("data-opens", narrow.matches);
    const given = { role: "button", tabindex: "0", "aria-expanded": "false" };
    if (!inside.textContent.trim()) given["aria-label"] = label.closest("header") ? "Menu" : "Back";
    for (const [name, value] of Object.entries(given)) {
      if (narrow.matches) inside.setAttribute(name, value);
      else inside.removeAttribute(name);
    }
  }
  tellWhatIsOpen();
}

function openOrClose(event) {
  const drawer = document.getElementById("__drawer");
  if (event.key === "Escape" && drawer.checked) drawer.click();
  if (![" ", "Enter"].includes(event.key) || !event.target.matches("[data-opens]")) return;
  event.preventDefault();
  event.target.click();
}

function tellWhatIsOpen() {
  for (const label of document.querySelectorAll(opens)) {
    const shown = String(document.getElementById(label.htmlFor).checked);
    label.querySelector("[data-opens]")?.setAttribute("aria-expanded", shown);
  }
}

addEventListener("load", giveTabStops);
for (const event of ["load", "resize"]) addEventListener(event, openMenuByKeys);
addEventListener("change", tellWhatIsOpen);
addEventListener("keydown", openOrClose);
addEventListener("resize", giveTabStops);
