/* The stage of a stepper: draws the frame of each step as SVG, and moves what has the same key.

   A frame (autograder/lessons/stage) has `floors`, the highest first, each with items in its `row`
   and on its `bench`, and `columns` of what the interpreter makes. It holds no pixels. */

"use strict";
{
  const NS = "http://www.w3.org/2000/svg";
  const make = (name, parent, attributes = {}) => {
    const made = document.createElementNS(NS, name);
    for (const [key, x] of Object.entries(attributes)) made.setAttribute(key, x);
    parent.append(made);
    return made;
  };
  const LETTER = 8.4, GAP = 9, LINE = 20; // in pixels; letters at scale 1

  /* Sizes of an item at scale 1. */
  function size(item) {
    if (item.rows) {
      const letters = Math.max(...item.rows.flat().map((x) => x.length));
      const sheets = item.axis !== undefined, rows = cells(item);
      const fan = sheets ? 5 : 0;
      return {
        w: rows[0].length * (letters * LETTER + 10) + (rows.length - 1) * fan + (boxed(item) ? 18 : 0),
        h: rows.length * 19 + (rows.length - 1) * fan + (boxed(item) ? 10 : 0),
        cell: letters * LETTER + 10, fan,
      };
    }
    if (item.parts) {
      const inner = item.parts.map(size);
      const gap = item.open ? 12 : 4;
      return {
        w: inner.reduce((sum, x) => sum + x.w + gap, 12 - gap) + (boxed(item) ? 9 : 0),
        h: Math.max(...inner.map((x) => x.h)) + 10 + (item.parts.some((x) => x.cap) ? 12 : 0), gap,
      };
    }
    const pad = { op: 22, plain: 2 }[item.role] ?? 14, cap = (item.cap?.length ?? 0) * LETTER * 0.8;
    return { w: Math.max(item.text.length * LETTER + pad, cap), h: 26 };
  }
  const boxed = (item) => item.level !== undefined;

  /* The rows of an array as sheets: along its batch axis, if it has one. */
  function cells({ rows, axis, type }) {
    if (type?.includes(",") || axis === undefined) {
      return axis === 1 ? rows[0].map((_, j) => rows.map((row) => row[j])) : rows;
    }
    return rows[0].map((x) => [x]); // a batch of numbers
  }

  class Stage {
    constructor(frames, place) {
      this.frames = frames;
      this.canvas = document.createElement("div");
      this.canvas.className = "stage";
      place(this.canvas);
      this.svg = make("svg", this.canvas, { "aria-hidden": "true" });
      this.live = new Map();
      this.places = new Map();
      this.now = 0;
      new ResizeObserver(() => this.resize()).observe(this.canvas);
    }

    /* Heights are the same for all frames, so that nothing around the stage moves. */
    resize() {
      const { width } = this.canvas.getBoundingClientRect();
      if (!width || width === this.width) return;
      this.width = width;
      this.side = width > 760 && this.frames.some((x) => x.columns.length);
      this.main = this.side ? width * 0.6 - 16 : width;
      this.sizes = [];
      let wide = 1, rows = 0;
      for (const { floors, columns } of this.frames) {
        floors.forEach(({ row, bench, rule }, n) => {
          const at = floors.length - 1 - n, found = (this.sizes[at] ??= { row: 26, bench: 0 });
          const width = (items) => items.reduce((sum, x) => sum + size(x).w + GAP, 0);
          found.row = Math.max(found.row, ...row.map((x) => size(x).h));
          if (rule || bench.length) found.bench = Math.max(found.bench, 40, ...bench.map((x) => size(x).h + 14));
          wide = Math.max(wide, width(row), width(bench) + (rule?.length ?? 0) * LETTER + GAP);
        });
        rows = Math.max(rows, ...columns.map((x) => x.cells.length));
      }
      const high = this.sizes.reduce((sum, x) => sum + x.row + x.bench + 12, 0);
      const budget = width < 500 ? 290 : 370; // so that line, floors and sentence fit together
      const room = (budget - 32 * this.sizes.length) / high; // what all floors may take
      this.scale = Math.max(0.7, Math.min(1.1, (this.main - 28) / wide, room));
      this.tall = this.sizes.map((x) => 22 + (x.row + x.bench + 12) * this.scale);
      this.floorsHeight = this.tall.reduce((sum, x) => sum + x + 8, 0);
      const left = Math.floor((budget + 20 - this.floorsHeight) / LINE);
      this.rows = Math.min(rows, this.side ? 16 : Math.max(width < 500 ? 3 : 4, left));
      const table = this.rows ? 30 + this.rows * LINE : 0;
      this.height = this.side ? Math.max(this.floorsHeight, table) : this.floorsHeight + (table && table + 10);
      this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
      this.svg.style.height = `${this.height}px`;
      this.canvas.style.setProperty("--stage-font", `${14 * this.scale}px`);
      this.canvas.classList.add("stage-still");
      this.show(this.now);
      this.svg.getBoundingClientRect();
      this.canvas.classList.remove("stage-still");
    }

    show(index) {
      this.now = index;
      if (!this.width) return;
      const frame = this.frames[index];
      const next = new Map();
      this.next = next;
      let bottom = this.floorsHeight;
      [...frame.floors].reverse().forEach((floor, n) => {
        this.floor(floor, n, bottom - this.tall[n] - 8);
        bottom -= this.tall[n] + 8;
      });
      this.columns(frame.columns);
      this.move(next);
    }

    put(id, thing) {
      let name = id;
      for (let n = 2; this.next.has(name); n += 1) name = `${id}#${n}`;
      this.next.set(name, thing);
    }

    floor({ level, name, row, bench, rule, state = "" }, n, y) {
      const s = this.scale, { row: high } = this.sizes[n];
      const title = level === "ƒ" ? `${name}( )` : `${level}   ${name}`;
      this.put(`floor${n}`, { type: `floor ${state}`, x: 1, y, w: this.main - 2, h: this.tall[n], r: 7 });
      this.put(`name${n}`, { type: "name", text: title, x: 11, y: y + 3, w: 0, h: 18 });
      const middle = y + 22 + (high * s) / 2;
      let x = 12;
      for (const item of row) x = this.item(item, x, middle, `r${n}`) + GAP * s;
      const lower = middle + (high * s) / 2 + (this.sizes[n].bench * s) / 2 + 8 * s;
      if (rule) this.put(`rule${n}`, { type: "rule", text: rule, x: 12, y: lower - 13 * s, w: 0, h: 26 * s });
      x = 12 + ((rule?.length ?? 0) * LETTER + GAP) * s;
      for (const item of bench) x = this.item(item, x, lower, `b${n}`) + GAP * s;
    }

    /* An item around a height; returns its right end. */
    item(item, x, y, home) {
      const s = this.scale, { w, h, gap, cell, fan } = size(item), id = `${home}:${item.key}`;
      const at = { key: item.key, from: item.from, x, y: y - (h * s) / 2, w: w * s, h: h * s };
      if (!item.rows && !item.parts) {
        this.put(id, { ...at, type: item.role, text: item.text, cap: item.cap, r: (item.role === "op" ? 13 : 5) * s });
        return x + w * s;
      }
      const mark = boxed(item) ? 9 : 0;
      const kind = boxed(item) ? (item.open ? "opened" : "box") : "group";
      const label = boxed(item) ? String(item.level) : "";
      if (item.parts || boxed(item)) this.put(`${id}/box`, { ...at, w: (w - mark) * s, type: kind, text: label, r: 8 * s });
      if (item.parts) {
        let left = x + 6 * s;
        const low = item.parts.some((p) => p.cap) ? 6 * s : 0;
        for (const part of item.parts) left = this.item(part, left, y + low, `${home}/${item.key}`) + gap * s;
        return x + w * s;
      }
      const rows = cells(item), left = x + (boxed(item) ? 5 * s : 0);
      const top = y - ((rows.length * 19 + (rows.length - 1) * fan) * s) / 2;
      const key = item.inner ?? item.key;
      rows.forEach((row, i) => {
        const shift = left + (rows.length - 1 - i) * fan * s, high = top + i * (19 + fan) * s;
        this.put(`${id}/s${i}`, { key: `${key}/s${i}`, from: item.from, type: item.role === "tangent" ? "tangent sheet" : "value sheet", x: shift, y: high, w: row.length * cell * s, h: 19 * s, r: fan ? 4 * s : 0 });
        row.forEach((text, j) => {
          const spot = item.axis === 1 ? `${j},${i}` : item.axis !== undefined && rows[0].length === 1 ? `0,${i}` : `${i},${j}`;
          this.put(`${id}/${spot}`, { key: `${key}/${spot}`, from: item.from, type: "number", text, x: shift + j * cell * s, y: high, w: cell * s, h: 19 * s });
        });
      });
      return x + w * s;
    }

    /* What the interpreter makes; the last lines, if there are too many. */
    columns(columns) {
      const left = this.side ? this.main + 28 : 2, top = this.side ? 0 : this.floorsHeight + 10;
      const share = (this.width - left) / (columns.length || 1);
      const first = Math.max(0, ...columns.map((x) => x.cells.length - this.rows));
      const font = Math.min(13, ...columns.flatMap((c) => c.cells.map((x) => (share - 10) / (x.text.length * 0.61))));
      this.canvas.style.setProperty("--stage-cell", `${Math.max(9, font)}px`);
      columns.forEach(({ head, cells: lines }, n) => {
        const x = left + n * share;
        this.put(`head${n}${head}`, { type: `head ${head}`, text: head, x, y: top, w: 0, h: 20 });
        const role = /Tangent|Later|Cotangent/.test(head) ? "tangents" : "";
        lines.slice(columns.some((c) => c.cells.length !== lines.length) ? Math.max(0, lines.length - this.rows) : first).forEach((line, i) => {
          this.put(`c${head}${line.key}`, { type: `cell ${role} ${line.lit ? "lit" : ""}`, from: line.from, text: line.text, x, y: top + 24 + i * LINE, w: share - 8, h: LINE - 1, r: 3 });
        });
      });
    }

    move(next) {
      const before = this.places;
      this.places = next;
      const source = (thing, places) => {
        const named = (key) => key !== undefined && [...places.values()].findLast((x) => x.key === key);
        const at = named(thing.key) || named(thing.from);
        return at && { ...thing, x: at.x, y: at.y };
      };
      for (const [id, thing] of next) {
        if (this.live.has(id)) continue;
        this.live.set(id, this.draw(thing));
        this.set(this.live.get(id), source(thing, before) || { ...thing, y: thing.y - 14 }, 0);
      }
      for (const [id, element] of this.live) {
        if (next.has(id)) continue;
        const was = before.get(id);
        this.set(element, (was.key && source({ ...was, from: undefined }, next)) || was, 0);
        this.live.delete(id);
        setTimeout(() => element.remove(), 450);
      }
      this.svg.getBoundingClientRect(); // so that what is new has been where it comes from
      for (const [id, thing] of next) this.set(this.live.get(id), thing, 1);
    }

    draw(thing) {
      const group = make("g", this.svg);
      make("rect", group);
      if (thing.text !== undefined) make("text", group, { "dominant-baseline": "central" });
      if (thing.cap) make("text", group, { class: "cap", x: 3, y: -4 }).textContent = thing.cap;
      return group;
    }

    set(group, thing, opacity) {
      const [rect, text] = group.children, first = thing.type.split(" ")[0];
      group.setAttribute("class", `thing ${thing.type}`);
      group.style.opacity = opacity;
      group.style.transform = `translate(${thing.x}px, ${thing.y}px)`;
      rect.style.width = `${Math.max(thing.w, 0)}px`;
      rect.style.height = `${thing.h}px`;
      rect.setAttribute("rx", thing.r ?? 0);
      if (!text || thing.text === undefined) return;
      if (text.textContent !== thing.text) text.textContent = thing.text;
      const left = ["cell", "name", "rule", "head"].includes(first), corner = ["box", "opened", "group"].includes(first);
      text.setAttribute("text-anchor", left || corner ? "start" : "middle");
      const x = corner ? thing.w + 2 : left ? (first === "cell" ? 5 : 0) : thing.w / 2;
      text.style.transform = `translate(${x}px, ${corner ? thing.h - 5 : thing.h / 2}px)`;
    }
  }

  window.Stage = Stage;
}
