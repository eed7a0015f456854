/* The editor: CodeMirror with Python, in the theme's colours, its lines numbered as in the file. */

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const color = (name) => ({ color: `var(--md-code-hl-${name}-color)` });
const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], ...color("keyword") },
  { tag: [tags.string, tags.special(tags.string)], ...color("string") },
  { tag: [tags.number, tags.bool, tags.null], ...color("number") },
  { tag: [tags.function(tags.definition(tags.variableName))], ...color("function") },
  { tag: tags.operator, ...color("operator") },
  { tag: tags.comment, ...color("comment") },
]);

/* The line that is to be replaced, selected, so that the first key replaces it. */
function todo(doc) {
  const [line] = doc.match(/raise NotImplementedError\(.*/) ?? [""];
  const anchor = line ? doc.indexOf(line) : 0;
  return { anchor, head: anchor + line.length };
}

export function makeEditor(parent, lesson, exercise, check) {
  const numbers = new Compartment();
  const leave = "Tab indents; to leave the editor, press Escape, then Tab.";
  const label = `Code of ${lesson.names[exercise]}. ${leave}`;
  const numbered = () => {
    const first = lesson.line(exercise);
    return lineNumbers({ formatNumber: (number) => String(number + first - 1) });
  };
  const doc = lesson.text(exercise).replace(/\n$/, "");
  const view = new EditorView({
    parent,
    doc,
    selection: todo(doc),
    extensions: [
      numbers.of(numbered()),
      history(),
      indentUnit.of("    "),
      EditorState.tabSize.of(4),
      bracketMatching(),
      python(),
      syntaxHighlighting(colors),
      keymap.of([{ key: "Mod-Enter", run: () => (check(), true) }]),
      keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged) lesson.write(exercise, `${state.doc}\n`);
      }),
    ],
  });
  lesson.changed.addEventListener("change", () => {
    if (!view.hasFocus) view.dispatch({ effects: numbers.reconfigure(numbered()) });
  });
  return view;
}
