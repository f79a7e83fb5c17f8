// A small chart of lines over the last minute, on a canvas, with a legend of its own in text.

import { theme } from "./colours.js";
import { make, number, write } from "./dom.js";

const SPAN_S = 60;
const [LEFT, TOP, RIGHT, BOTTOM] = [38, 8, 6, 16];

/**
 * A chart with one pane or two beside each other, on one scale.
 *
 * `draw` takes panes of `{title, series}`; a series is `{name, colour, dash, read, band}`, where `read(second)` is its value in a
 * second, and `band(second)` half the width of what is shaded around it.
 */
export class Chart {
  #canvas = make("canvas", { role: "img" });
  #legends = make("div", { class: "legends" });
  #width = 0;
  #height = 0;
  #most = 0;
  #unit;
  #panes = [];
  #history = [];

  /** `UNIT` in `unit` stands for the game's; `most` is the end of the scale where that is known, `floor` the least it can be. */
  constructor({ id, title, unit, digits, wide = false, floor = 1, most = null }) {
    Object.assign(this, { title, unit, digits, floor, most });
    this.#unit = make("span", { class: "quiet" });
    const heading = make("h3", {}, title, " ", this.#unit);
    this.element = make(
      "div",
      { class: wide ? "chart wide" : "chart", "data-test": `chart-${id}` },
      heading,
      this.#canvas,
      this.#legends,
    );
    new ResizeObserver(([{ contentRect }]) => {
      [this.#width, this.#height] = [contentRect.width, contentRect.height];
      this.redraw();
    }).observe(this.#canvas);
  }

  /** Shows these panes over these seconds. */
  draw(panes, history, unit) {
    write(this.#unit, this.unit.replace("UNIT", unit));
    this.#panes = panes;
    this.#history = history;
    this.#explain();
    this.redraw();
  }

  /** The same again, after a change of size or colours. */
  redraw() {
    if (this.#width < 40) return;
    const density = devicePixelRatio;
    this.#canvas.width = Math.round(this.#width * density);
    this.#canvas.height = Math.round(this.#height * density);
    const context = this.#canvas.getContext("2d");
    context.scale(density, density);
    this.#fit();
    const each = (this.#width - LEFT - RIGHT + 10) / Math.max(this.#panes.length, 1);
    this.#panes.forEach((pane, index) => {
      const box = { left: LEFT + each * index, top: TOP, width: each - 10, height: this.#height - TOP - BOTTOM };
      this.#axes(context, box, index === 0, pane.title);
      this.#lines(context, box, pane);
    });
  }

  // The scale grows at once and shrinks slowly: no jumping to and fro.
  #fit() {
    if (this.most !== null) {
      this.#most = this.most;
      return;
    }
    let most = this.floor;
    for (const { series } of this.#panes) {
      for (const { read, band } of series) {
        for (const second of this.#history) most = Math.max(most, (read(second) ?? 0) + (band?.(second) ?? 0));
      }
    }
    this.#most = most > this.#most || most < this.#most * 0.6 ? nice(most) : this.#most;
  }

  #axes(context, { left, top, width, height }, labelled, title) {
    context.font = "10.5px system-ui, sans-serif";
    context.lineWidth = 1;
    for (let i = 0; i <= 4; i += 2) {
      const y = Math.round(top + height - (height * i) / 4) + 0.5;
      context.strokeStyle = theme.axis;
      context.beginPath();
      context.moveTo(left, y);
      context.lineTo(left + width, y);
      context.stroke();
      if (!labelled) continue;
      context.fillStyle = theme.quiet;
      context.textAlign = "right";
      context.fillText(axisText((this.#most * i) / 4), left - 5, y + 3.5);
    }
    context.fillStyle = theme.quiet;
    context.textAlign = "left";
    const room = width - context.measureText(title ?? "").width > 2 * context.measureText("1 min ago ").width;
    context.fillText(room ? "1 min ago" : "−60 s", left, top + height + 13);
    context.textAlign = "right";
    context.fillText("now", left + width, top + height + 13);
    context.fillStyle = theme.ink;
    context.textAlign = "center";
    if (title) context.fillText(title, left + width / 2, top + height + 13);
  }

  #lines(context, box, { series }) {
    const newest = this.#history.at(-1)?.time_s ?? 0;
    const x = (second) => box.left + box.width * (1 - (newest - second.time_s) / SPAN_S);
    const y = (value) => box.top + box.height * (1 - Math.min(Math.max(value, 0) / this.#most, 1));
    context.save();
    context.beginPath();
    context.rect(box.left, box.top - 2, box.width + 1, box.height + 4);
    context.clip();
    context.lineJoin = "round";
    for (const second of this.#history) if (second.changed) upright(context, x(second), box);
    for (const line of series) if (line.band) shade(context, this.#history, line, x, y);
    for (const line of series) stroke(context, this.#history, line, x, y);
    context.restore();
  }

  #explain() {
    fitChildren(this.#legends, this.#panes.length, () => make("ul", { class: "legend" }));
    this.#legends.style.setProperty("--panes", this.#panes.length);
    const said = this.#panes.flatMap(({ title, series }, index) => {
      const list = this.#legends.children[index];
      fitChildren(list, series.length, entry);
      return series.map((line, at) => `${title ? `${title}, ` : ""}${this.#name(list.children[at], line)}`);
    });
    this.#canvas.setAttribute("aria-label", `${this.title}, ${this.#unit.textContent}. Now: ${said.join("; ")}`);
  }

  #name(item, line) {
    const newest = this.#history.at(-1);
    const half = newest ? line.band?.(newest) : null;
    const around = half === null || half === undefined ? "" : ` ± ${number(half, this.digits)}`;
    const text = number(newest ? line.read(newest) : null, this.digits) + around;
    const [sample, name, value] = item.children;
    sketch(sample, line);
    write(name, line.name);
    write(value, text);
    return `${line.name} ${text}`;
  }
}

function fitChildren(parent, count, create) {
  while (parent.children.length > count) parent.lastChild.remove();
  while (parent.children.length < count) parent.append(create());
}

function entry() {
  const sample = make("canvas", { width: 44, height: 12, class: "sample", "aria-hidden": "true" });
  return make("li", {}, sample, make("span"), make("b"));
}

function sketch(canvas, { colour, dash }) {
  const key = `${colour} ${dash}`;
  if (canvas.key === key) return;
  canvas.key = key;
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, 44, 12);
  context.setLineDash(dash.map((part) => part * 2));
  context.strokeStyle = colour;
  context.lineWidth = 4;
  context.beginPath();
  context.moveTo(0, 6);
  context.lineTo(44, 6);
  context.stroke();
}

function upright(context, x, { top, height }) {
  context.setLineDash([1, 3]);
  context.strokeStyle = theme.quiet;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x, top);
  context.lineTo(x, top + height);
  context.stroke();
}

function stroke(context, history, { read, colour, dash }, x, y) {
  context.setLineDash(dash);
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.beginPath();
  let drawing = false;
  for (const second of history) {
    const value = read(second) ?? null;
    if (value !== null && drawing && !second.changed) context.lineTo(x(second), y(value));
    else if (value !== null) context.moveTo(x(second), y(value));
    drawing = value !== null;
  }
  context.stroke();
}

function shade(context, history, { read, band, colour }, x, y) {
  context.fillStyle = colour;
  context.globalAlpha = 0.16;
  for (let i = 1; i < history.length; i += 1) {
    const [a, b] = [history[i - 1], history[i]];
    const [va, vb] = [read(a) ?? null, read(b) ?? null];
    if (va === null || vb === null || b.changed) continue;
    const [ha, hb] = [band(a) ?? 0, band(b) ?? 0];
    context.beginPath();
    context.moveTo(x(a), y(va + ha));
    context.lineTo(x(b), y(vb + hb));
    context.lineTo(x(b), y(vb - hb));
    context.lineTo(x(a), y(va - ha));
    context.fill();
  }
  context.globalAlpha = 1;
}

/** The next round number. */
function nice(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((candidate) => candidate * power >= most * 1.02) ?? 15;
  return step * power;
}

const axisText = (value) => (value >= 10_000 ? `${value / 1000}k` : String(Number(value.toPrecision(3))));
