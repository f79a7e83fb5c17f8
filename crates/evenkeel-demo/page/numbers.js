// The numbers of a second in words: the strip beneath the views, and the table.

import { TITLES, WORLDS } from "./colours.js";
import { byId, bytes, make, measure, number, write } from "./dom.js";

const COLUMNS = [
  ["error", "error", (r, unit) => measure(r.error, unit)],
  ["window", "in the window", (r, unit) => measure(r.window, unit)],
  ["accumulated", "accumulated", (r, unit) => measure(r.accumulated, `${unit}·s`)],
  ["delay", "delay", (r) => measure(r.delay_ms, "ms", 0)],
  ["jitter", "jitter", (r) => measure(r.jitter_ms, "ms", 1)],
  ["loss", "loss", (r) => measure(share(r.loss), "%", 1)],
  ["clock", "clock error", (r) => measure(r.clock_error_ms, "ms")],
  ["uncertainty", "uncertainty", (r) => measure(r.uncertainty_ms, "ms")],
  ["agreement", "hits seen", (r) => measure(share(r.agreement), "%", 0)],
  ["vectors", "messages/s", (r) => number(r.vectors_per_s, 1)],
];

const MEANINGS = ["mean over receivers", "standard deviation over receivers", "the worst receiver"];

const share = (value) => (value === null || value === undefined ? null : value * 100);

/** A verdict before that is chance. */
const MEASURED_S = 20;

/** The strip: both worlds, and how they compare. */
export class Summary {
  #root = byId("summary");
  #cells = new Map();

  update(second, unit) {
    this.#keep(second.worlds.length);
    second.worlds.forEach((world, index) => {
      const { term, figures, more } = this.#cells.get(WORLDS[index]);
      write(term, `${TITLES[index]} · ${world.policy}`);
      ["mean", "std", "max"].forEach((field, at) => write(figures[at], measure(world[field], unit)));
      const { vectors, bytes: size } = world.rate;
      const cost = world.fairness_cost;
      const price = cost > 0 ? `, fairness costs ${measure(cost, unit)} of the mean` : "";
      write(more, vectors === null ? "counting messages…" : `${number(vectors, 1)} messages/s, ${bytes(size)}/s${price}`);
    });
    const { value, more } = this.#cells.get("verdict");
    write(value, verdict(second.worlds, second.window_s));
    const { decided, wrong } = second.verdicts;
    const fair = second.worlds.length > 1 ? "fair: how alike the receivers' errors are; " : "";
    write(more, `over ${number(second.window_s, 0)} s; ${fair}referee: ${wrong} of ${decided} wrong`);
  }

  #keep(worlds) {
    if (this.#cells.size === worlds + 1) return;
    this.#cells.clear();
    const names = [...WORLDS.slice(0, worlds), "verdict"];
    const groups = names.map((name) => {
      const [term, value, more] = [make("dt"), make("dd", { class: "figure" }), make("dd", { class: "quiet" })];
      const figures = ["mean", "std", "worst"].map((field) => make("span", { "data-test": `${name}-${field}` }));
      if (name === "verdict") term.textContent = worlds === 2 ? "B against A" : "one world";
      else
        value.append(
          ...figures.map((figure, at) =>
            make("span", {}, make("small", { text: ["mean", "std", "worst"][at], title: MEANINGS[at] }), figure),
          ),
        );
      this.#cells.set(name, { term, value, more, figures });
      return make("div", { class: name, "data-test": `summary-${name}` }, term, value, more);
    });
    this.#root.replaceChildren(...groups);
  }
}

function verdict([left, right], window_s) {
  if (!right) return "switch world B on to compare";
  if (window_s < MEASURED_S) return `measuring… (${number(MEASURED_S - window_s, 0)} s to go)`;
  if (!left.mean || !right.mean) return "measuring…";
  return `${times(left.mean, right.mean, "as accurate")}, ${times(left.std, right.std, "as fair")}`;
}

/** How many times better the second is, of two numbers that should be small. */
function times(a, b, what) {
  const ratio = a / Math.max(b, 1e-3);
  return `${ratio >= 99.5 ? "over 99" : number(ratio, ratio >= 9.95 ? 0 : 1)}× ${what}`;
}

/** The table of everything. Not written while it is folded. */
export class Table {
  #root = byId("table");
  #fold = byId("table-fold");
  #key = "";
  #rows = [];

  update(second, state, unit) {
    if (!this.#fold.open) return;
    const key = JSON.stringify([second.worlds.length, state.views.map((view) => view.name)]);
    if (key !== this.#key) this.#build(second.worlds.length, state.views);
    this.#key = key;
    for (const { world, view, cells } of this.#rows) {
      const receiver = second.worlds[world]?.receivers[view];
      if (receiver) COLUMNS.forEach(([, , text], index) => write(cells[index], text(receiver, unit)));
    }
  }

  #build(worlds, views) {
    const head = ["receiver", "world", ...COLUMNS.map(([, title]) => title)].map((text) => make("th", { scope: "col", text }));
    this.#rows = views.flatMap((info, view) => WORLDS.slice(0, worlds).map((name, world) => row(info, view, name, world)));
    this.#root.replaceChildren(
      make("caption", { class: "unseen", text: "Every receiver in each world, renewed every second" }),
      make("thead", {}, make("tr", {}, ...head)),
      make("tbody", {}, ...this.#rows.map((entry) => entry.element)),
    );
  }
}

function row(info, view, name, world) {
  const cells = COLUMNS.map(([id]) => make("td", { "data-test": `cell-${name}-${view}-${id}` }));
  const element = make("tr", {}, make("th", { scope: "row", text: info.name }), make("td", { text: TITLES[world] }), ...cells);
  return { world, view, cells, element };
}
