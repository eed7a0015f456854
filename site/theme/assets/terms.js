/* What a word of the glossary means, beside its link: the first sentence of its entry, which
   site/hooks.py puts into the link. It comes with the pointer, the keyboard's focus or a first tap,
   and goes with Escape; the pointer may move onto it. The theme's own tooltips know neither taps nor
   Escape. */

{
  const tip = document.createElement("div");
  Object.assign(tip, { className: "term-tip md-typeset", id: "term-tip", role: "tooltip", hidden: true });
  document.body.append(tip);
  let shownAt = null; // the link, while the tip is shown
  let closing;
  let touch = false; // is the pointer a finger,
  let wasShown = false; // and was the tip there when it came down?

  function show(link) {
    clearTimeout(closing);
    if (link === shownAt) return;
    hide();
    shownAt = link;
    tip.innerHTML = link.dataset.definition; // made from the glossary when the site was built
    if (touch) tip.append(" (Tap the word again for the glossary.)");
    tip.hidden = false;
    link.setAttribute("aria-describedby", tip.id);
    place(link.getClientRects()[0]);
  }

  /* Below the word, or above it where there is no room; never wider than the window. */
  function place(word) {
    const { clientWidth, clientHeight } = document.documentElement;
    const left = Math.max(8, Math.min(word.left, clientWidth - tip.offsetWidth - 8));
    const below = word.bottom + tip.offsetHeight + 8 < clientHeight;
    const top = below ? word.bottom + 4 : word.top - tip.offsetHeight - 4;
    Object.assign(tip.style, { left: `${left + scrollX}px`, top: `${top + scrollY}px` });
  }

  function hide() {
    clearTimeout(closing);
    shownAt?.removeAttribute("aria-describedby");
    shownAt = null;
    tip.hidden = true;
  }

  const term = (event) => event.target.closest?.(".term");

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    if (term(event)) show(term(event));
    else if (event.target.closest("#term-tip")) clearTimeout(closing);
    else if (shownAt && shownAt !== document.activeElement) {
      clearTimeout(closing);
      closing = setTimeout(hide, 300);
    }
  });
  document.addEventListener("focusin", (event) => (term(event) ? show(term(event)) : hide()));
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("pointerdown", (event) => {
    touch = event.pointerType === "touch";
    wasShown = shownAt !== null && term(event) === shownAt;
    if (!term(event)) hide();
  });
  document.addEventListener("click", (event) => {
    if (!touch || wasShown || !term(event)) return;
    event.preventDefault();
    show(term(event));
  });
}
