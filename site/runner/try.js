/* The buttons "Try it here" and "Change this". Everything else is loaded when one is clicked. */

for (const place of document.querySelectorAll(".try-exercise")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Try it here";
  button.setAttribute("aria-label", `Try it here: ${place.dataset.exercise}`);
  const note = document.createElement("small");
  note.setAttribute("role", "status");
  note.textContent = "Python runs in this page; about 7 MB are loaded once.";
  button.addEventListener("click", async () => {
    button.disabled = true;
    note.textContent = "Loading the editor …";
    try {
      const { open } = await import("./runner.js");
      await open(place);
    } catch {
      button.disabled = false;
      note.textContent = "It could not be loaded. Are you connected? Try again.";
    }
  });
  place.append(button, " ", note);
}

for (const place of document.querySelectorAll(".change-this")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Change this";
  button.onclick = async () => {
    try {
      const { open } = await import("./change.js");
      open(place, button);
    } catch {
      button.textContent = "It could not be loaded. Try again.";
    }
  };
  place.append(button);
}
