// What every player's network is made to be.

import { make, write } from "./dom.js";
import { Cell } from "./fields.js";

const KINDS = [
  ["delay_ms", "delay", 2000, 10],
  ["jitter_ms", "jitter", 500, 1],
  ["loss_percent", "loss", 90, 0.5],
];

/** A table with a row for each player. `set(patch, field)` sends. */
export class Networks {
  #body = make("tbody");
  #note = make("p", { class: "hint", text: "One way, the same both ways: delay and jitter in ms, loss in %." });
  #rows = new Map();
  #players = {};
  #set;

  constructor(set) {
    this.#set = set;
    const head = make(
      "tr",
      {},
      ...["player", ...KINDS.map(([, title]) => title)].map((text) => make("th", { scope: "col", text })),
    );
    this.element = make(
      "div",
      {},
      make("div", { class: "scroll" }, make("table", { id: "networks" }, make("thead", {}, head), this.#body)),
      this.#note,
    );
  }

  /** Which players there are, and what is set. Receivers come first: theirs is what one wants to change. */
  update(players, views) {
    this.#players = { ...players };
    for (const { name, delay_ms } of views) this.#players[name] ??= { delay_ms, jitter_ms: 0, loss_percent: 0 };
    const shown = views.map((view) => view.name);
    const others = Object.keys(this.#players).filter((name) => !shown.includes(name));
    const names = [...shown, ...others.sort((a, b) => a.localeCompare(b, "en", { numeric: true }))];
    if (names.join("\n") === [...this.#rows.keys()].join("\n")) return;
    this.#rows = new Map(names.map((name) => [name, KINDS.map((kind) => this.#cell(name, kind))]));
    const rows = [...this.#rows].map(([name, cells]) =>
      make("tr", {}, make("th", { scope: "row", text: name }), ...cells.map((cell) => cell.element)),
    );
    this.#body.replaceChildren(...rows);
  }

  #cell(name, [field, title, max, step]) {
    const asker = {
      refuse: (why) => this.#say(why, true),
      accept: () => this.#say("One way, the same both ways: delay and jitter in ms, loss in %.", false),
    };
    const send = (value) => this.#set({ [name]: { ...this.#players[name], [field]: value } }, asker);
    return new Cell({ label: `${title} of ${name}`, min: 0, max, step, send, test: `network-${name}-${title}` });
  }

  #say(text, refused) {
    write(this.#note, text);
    this.#note.classList.toggle("refused", refused);
  }

  /** Writes the numbers. */
  fill() {
    for (const [name, cells] of this.#rows) cells.forEach((cell, index) => cell.show(this.#players[name][KINDS[index][0]]));
  }
}
