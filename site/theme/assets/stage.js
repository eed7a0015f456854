/* The stage of a stepper: draws the frame of each step as SVG, and moves what has the same key.

   A frame (autograder/lessons/stage) has `floors`, the highest first, each with items in its `row`
   and on its `bench`; and `columns` of what the interpreter makes, or the `graph` of a program
   whose equations are transposed. It holds no pixels. */

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
    const pad = { op: 22, plain: 2, rule: 0 }[item.role] ?? 14, cap = (item.cap?.length ?? 0) * LETTER * 0.8;
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

  const NARROW = 500; // a phone's width
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let tips = 0;

  class Stage {
    constructor(frames, place) {
      this.canvas = document.createElement("div");
      this.canvas.className = "stage";
      place(this.canvas);
      this.svg = make("svg", this.canvas, { "aria-hidden": "true" });
      this.tip = `stage-tip${(tips += 1)}`;
      const tip = { id: this.tip, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" };
      make("path", make("marker", make("defs", this.svg), tip), { d: "M0 0L8 4L0 8z", class: "tip" });
      this.live = new Map();
      this.places = new Map();
      this.now = 0;
      this.load(frames);
      new ResizeObserver(() => this.resize()).observe(this.canvas);
    }

    /* Other frames: what they share with those before stays, and moves. Each says only what
       differs from the one before it. */
    load(frames) {
      let last = {};
      this.frames = frames.map((x) => (last = { ...last, ...x }));
      if (this.width) this.measure();
    }

    resize() {
      const { width } = this.canvas.getBoundingClientRect();
      if (!width || width === this.width) return;
      this.width = width;
      this.measure();
      this.canvas.classList.add("stage-still");
      this.show(this.now);
      this.svg.getBoundingClientRect();
      this.canvas.classList.remove("stage-still");
    }

    /* The scale, and a height that is the same for all frames: nothing around the stage moves.

       If floors that keep their heights leave too little room for the rest, they are as high as
       each frame needs, and what is too wide for a line continues in the next one. */
    measure() {
      const [budget, few] = this.width < NARROW ? [370, 3] : [440, 4]; // the least rows of columns
      const needs = (s, fixed) => {
        this.scale = s;
        this.fixed = fixed ? this.highest() : null;
        this.floorsHeight = Math.max(...this.frames.map((x) => (x.graph ? 0 : this.tall(x.floors))));
        this.graphHeight = Math.max(...this.frames.map((x) => (x.graph ? this.tall(x.floors) + this.graphSize(x.graph) : 0)));
        return Math.max(this.floorsHeight + least, this.graphHeight);
      };
      const most = Math.max(...this.frames.flatMap((x) => x.columns.map((c) => c.cells.length)), 0);
      const least = most && 34 + Math.min(most, few) * LINE;
      const tries = [[1.1, true], [1, true], [0.9, true], [0.8, true], [0.95], [0.85], [0.75], [0.7]];
      tries.find(([s, fixed]) => needs(s, fixed) <= budget);
      this.rows = Math.min(most, Math.max(few, Math.floor((budget - this.floorsHeight - 34) / LINE)));
      this.height = Math.max(this.floorsHeight + (this.rows && 34 + this.rows * LINE), this.graphHeight);
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
      this.svg.style.height = `${this.height}px`;
      this.canvas.style.setProperty("--stage-font", `${14 * this.scale}px`);
    }

    /* Items in lines that fit, each with its height. */
    lines(items) {
      const lines = [];
      let left = Infinity;
      for (const item of items) {
        const { w, h } = size(item), wide = w * this.scale;
        if (left + wide > this.width - 14) {
          lines.push({ items: [], high: 0, cap: 0 });
          left = 12;
        }
        const line = lines.at(-1);
        line.items.push(item);
        line.high = Math.max(line.high, h);
        if (item.cap) line.cap = 13;
        left += wide + GAP * this.scale;
      }
      return lines;
    }

    content({ row, bench, rule }) {
      const named = rule ? [{ key: "rule", role: "rule", text: rule }] : [];
      return [["r", this.lines(row)], ["b", this.lines([...named, ...bench])]];
    }

    high(floor) {
      const lines = this.content(floor).flatMap(([, x]) => x);
      return 22 + lines.reduce((sum, x) => sum + (x.high + x.cap + 8) * this.scale, 0);
    }

    /* What each floor needs at most, the lowest first. */
    highest() {
      const most = [];
      for (const { floors } of this.frames) {
        [...floors].reverse().forEach((x, n) => (most[n] = Math.max(most[n] ?? 0, this.high(x))));
      }
      return most;
    }

    heights(floors) {
      return [...floors].reverse().map((x, n) => this.fixed?.[n] ?? this.high(x));
    }

    tall(floors) {
      return this.heights(floors).reduce((sum, x) => sum + x + 6, 0);
    }

    show(index) {
      this.now = index;
      if (!this.width) return;
      const frame = this.frames[index];
      this.next = new Map();
      let bottom = frame.graph ? this.height : this.floorsHeight;
      const heights = this.heights(frame.floors);
      if (frame.graph) this.graph(frame, bottom - this.tall(frame.floors));
      else this.columns(frame.columns);
      [...frame.floors].reverse().forEach((floor, n) => {
        bottom -= heights[n] + 6;
        this.floor(floor, n, bottom, heights[n]);
      });
      this.move(this.next);
    }

    put(id, thing) {
      let name = id;
      for (let n = 2; this.next.has(name); n += 1) name = `${id}#${n}`;
      this.next.set(name, thing);
    }

    floor(floor, n, y, high) {
      const s = this.scale, { level, name, state = "" } = floor;
      const title = level === "ƒ" ? `${name}( )` : `${level}   ${name}`;
      this.put(`floor${n}`, { type: `floor ${state}`, x: 1, y, w: this.width - 2, h: high, r: 7 });
      this.put(`name${n}`, { type: "name", text: title, x: 11, y: y + 2, w: 0, h: 18 });
      let top = y + 20;
      for (const [part, lines] of this.content(floor)) {
        for (const line of lines) {
          top += (line.cap + line.high / 2 + 4) * s;
          let x = 12;
          for (const item of line.items) x = this.item(item, x, top, part + n) + GAP * s;
          top += (line.high / 2 + 4) * s;
        }
      }
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
      if (!this.rows) return;
      const same = this.frames.filter((x) => String(x.columns.map((c) => c.head)) === String(columns.map((c) => c.head)));
      const short = (head) => (this.width < NARROW ? head.split(":")[0] : head);
      const heads = columns.map(({ head }) => short(head).length * 7.2 + 10);
      const cells = columns.map((_, n) => Math.max(0, ...same.flatMap((x) => x.columns[n].cells.map((c) => c.text.length))) + 2);
      const all = (xs) => xs.reduce((a, b) => a + b, 0), share = all(cells) / this.width;
      const letters = cells.map((x, n) => Math.max(x, heads[n] * 1.15 * share));
      const sum = all(letters), top = this.floorsHeight + 8;
      const font = Math.max(9, Math.min(13, this.width / (sum * 0.61)));
      this.canvas.style.setProperty("--stage-cell", `${font}px`);
      let x = 2;
      columns.forEach(({ head, cells: lines }, n) => {
        const w = Math.max(heads[n], Math.min((this.width - 4) * letters[n] / sum, letters[n] * font * 0.9));
        this.put(`head${n}${head}`, { type: "head", text: short(head), x, y: top, w: 0, h: 20 });
        const role = /Tangent|Later/.test(head) ? "tangents" : /Residuals/.test(head) ? "kept" : "";
        const room = Math.floor((w - 10) / (font * 0.605));
        lines.slice(-this.rows).forEach((line, i) => {
          const text = line.text.length > room ? `${line.text.slice(0, room - 1)}…` : line.text;
          this.put(`c${line.key}`, { type: `cell ${role} ${line.lit ? "lit" : ""}`, from: line.from, text, x, y: top + 23 + i * LINE, w: w - 4, h: LINE - 1, r: 3 });
        });
        x += w;
      });
    }

    /* The linear program as a graph: arrows from operands to results, cotangents against them. */
    sideways({ nodes }) {
      const layers = 1 + Math.max(...nodes.map((x) => x.layer));
      const wide = Math.max(...nodes.map((x) => x.text.length)) * 7.5 + 40;
      return { layers, flat: layers * wide <= this.width };
    }

    graphSize(graph) {
      const { layers, flat } = this.sideways(graph);
      return (flat ? Math.max(2, graph.widest) * 74 : layers * 50) + 8;
    }

    graph({ graph, transposed, chips }, bottom) {
      const { layers, flat } = this.sideways(graph), high = Math.min(bottom - 8, this.graphSize(graph) * 1.3);
      const at = (layer, across) => (flat
        ? { x: ((layer + 0.5) / layers) * this.width, y: bottom - 8 - high + across * high }
        : { x: across * this.width, y: bottom - 8 - high + ((layer + 0.5) / layers) * high });
      const spots = graph.nodes.map(({ name, text, layer, across }) => ({ ...at(layer, across), name, text, w: text.length * 7.5 + 20 }));
      for (const { way, ends: [from, to] } of graph.ways) {
        const points = way.map(([layer, across]) => at(layer, across)), [u, v] = [spots[from], spots[to]];
        if (flat) { points[0].x += u.w / 2; points.at(-1).x -= v.w / 2 + 2; }
        else { points[0].y += 13; points.at(-1).y -= 15; }
        const d = points.slice(1).reduce((d, p, i) => {
          const q = points[i], [mx, my] = [(q.x + p.x) / 2, (q.y + p.y) / 2];
          return d + (flat ? `C${mx} ${q.y} ${mx} ${p.y} ${p.x} ${p.y}` : `C${q.x} ${my} ${p.x} ${my} ${p.x} ${p.y}`);
        }, `M${points[0].x} ${points[0].y}`);
        const busy = transposed === v.name && chips.some((c) => c.at === u.name && c.by === v.name);
        this.put(`edge-${u.name}-${v.name}`, { type: `edge ${busy ? "busy" : ""}`, d, x: 0, y: 0, w: 0, h: 0 });
      }
      spots.forEach(({ x, y, w, name, text }) => {
        this.put(`node-${name}`, { type: `node ${transposed === name ? "at" : ""}`, text, x: x - w / 2, y: y - 13, w, h: 26, r: 13 });
        if (text !== name) this.put(`var-${name}`, { type: "name", text: name, x: x - w / 2 + 2, y: y - 29, w: 0, h: 14 });
        chips.filter((c) => c.at === name).forEach((chip, i) => {
          const wide = chip.text.length * 7.3 + 12;
          const inside = (x) => Math.max(2, Math.min(x, this.width - wide - 2));
          const place = flat ? { x: inside(x - wide / 2), y: y + 17 + i * 22 } : { x: inside(x + w / 2 + 5), y: y - 11 + i * 22 };
          const cap = chip.cap && { cap: `= ${chip.cap}`, capAt: flat ? [wide + 4, 14] : [Math.min(0, this.width - 4 - place.x - (chip.cap.length + 2) * 7.4), 34] };
          this.put(`chip-${chip.key}`, { key: chip.key, from: chip.from, type: "tangent chip", text: chip.text, ...place, w: wide, h: 20, r: 4, path: chip.by && `edge-${name}-${chip.by}`, ...cap });
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
      for (const [id, thing] of next) {
        if (thing.path && !before.has(id)) this.follow(this.live.get(id), thing);
        this.set(this.live.get(id), thing, 1);
      }
    }

    /* A cotangent runs back along its arrow. */
    follow(group, { path, x, y, w }) {
      const line = this.live.get(path)?.querySelector("path");
      if (!line || still.matches || this.canvas.classList.contains("stage-still")) return;
      const length = line.getTotalLength();
      const way = Array.from({ length: 17 }, (_, i) => line.getPointAtLength(length * (1 - i / 16)));
      const places = [...way.map((p) => [p.x - w / 2, p.y - 10]), [x, y]];
      group.animate(places.map(([a, b]) => ({ transform: `translate(${a}px, ${b}px)` })), { duration: 900, easing: "ease-in-out" });
    }

    draw(thing) {
      const group = document.createElementNS(NS, "g");
      if (thing.d) {
        make("path", group, { "marker-end": `url(#${this.tip})` });
        this.svg.prepend(group); // below the nodes
        return group;
      }
      this.svg.append(group);
      make("rect", group);
      if (thing.text === undefined) return group;
      make("text", group, { "dominant-baseline": "central" });
      make("text", group, { class: "cap" });
      return group;
    }

    set(group, thing, opacity) {
      const [rect, text, cap] = group.children, first = thing.type.split(" ")[0];
      group.setAttribute("class", `thing ${thing.type}`);
      group.style.opacity = opacity;
      group.style.transform = `translate(${thing.x}px, ${thing.y}px)`;
      if (thing.d) return rect.setAttribute("d", thing.d);
      rect.style.width = `${Math.max(thing.w, 0)}px`;
      rect.style.height = `${thing.h}px`;
      rect.setAttribute("rx", thing.r ?? 0);
      if (!text) return;
      cap.textContent = thing.cap ?? "";
      const [x0, y0] = thing.capAt ?? [3, -4];
      cap.setAttribute("x", x0);
      cap.setAttribute("y", y0);
      if (text.textContent !== thing.text) text.textContent = thing.text;
      const left = ["cell", "name", "rule", "head"].includes(first), corner = ["box", "opened", "group"].includes(first);
      text.setAttribute("text-anchor", left || corner ? "start" : "middle");
      const x = corner ? thing.w + 2 : left ? (first === "cell" ? 5 : 0) : thing.w / 2;
      text.style.transform = `translate(${x}px, ${corner ? thing.h - 5 : thing.h / 2}px)`;
    }
  }

  window.Stage = Stage;
}
