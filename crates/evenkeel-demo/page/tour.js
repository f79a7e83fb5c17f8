// The guided tour: sets the controls, says what to look at, and shows the number that changes.

import { WORLDS } from "./colours.js";
import { byId, make, number, write } from "./dom.js";
import { allOf, STEPS, value as worth } from "./steps.js";

const SETTLED_S = 5;
const STEADY_S = 20;
const PATIENCE_MS = 5000;

const length = (x, unit) => `${number(x)} ${unit}`;
const FORMS = { mean: length, std: length, ratio: (x) => `${number(x, 1)} : 1`, rate: (x) => number(x, 1) };

/** What of a patch differs from what is set: nothing is begun anew without need. */
export function difference(patch, settings) {
  const entries = Object.entries(patch).flatMap(([key, value]) => {
    const present = settings?.[key] ?? null;
    if (value === null || typeof value !== "object" || present === null) return value === present ? [] : [[key, value]];
    const inner = difference(value, present);
    return Object.keys(inner).length ? [[key, inner]] : [];
  });
  return Object.fromEntries(entries);
}

/** The tour. `command(object)` sends, `settings()` is what is set. */
export class Tour {
  #root = byId("tour");
  #command;
  #settings;
  #step = -1;
  #before = null;
  #seen = [];
  #figures = [];
  #note = null;
  #fresh = false;
  #since = 0;

  constructor(command, settings) {
    this.#command = command;
    this.#settings = settings;
    byId("tour-start").addEventListener("click", () => this.begin());
    this.#root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.leave();
    });
  }

  /** Which step is shown: 1 to 6, or 0. */
  get step() {
    return this.#step + 1;
  }

  begin() {
    if (!this.#settings()) return;
    this.#before ??= structuredClone(this.#settings());
    this.#go(0);
  }

  /** Ends it. What was set before is set again, unless the tour came to its end. */
  leave(finished = false) {
    if (this.#step < 0) return;
    const { clock, left, right, lag, threshold, crowd, game } = this.#before;
    if (!finished) this.#set({ clock, left, right, lag, threshold, crowd, game });
    this.#step = -1;
    this.#before = null;
    this.#seen = [];
    this.#root.hidden = true;
    document.body.classList.remove("touring");
    byId("tour-start").focus();
  }

  /** What the step wants cannot be. */
  refuse(why) {
    this.#note?.setAttribute("role", "alert");
    if (this.#note) write(this.#note, why);
  }

  #set(patch) {
    const changes = difference(patch, this.#settings());
    if (Object.keys(changes).length === 0) return false;
    return this.#command({ set: changes });
  }

  #go(index) {
    this.#step = index;
    this.#fresh = this.#set(STEPS[index].set);
    this.#since = performance.now();
    this.#build(STEPS[index], index);
    this.#root.hidden = false;
    document.body.classList.add("touring");
    this.#root.querySelector("h2").focus({ preventScroll: true });
    this.#root.scrollIntoView({ block: "start" });
  }

  #build(step, index) {
    this.#figures = step.numbers.map((entry) => figure(entry));
    this.#note = make("p", { class: "quiet", id: "tour-note" });
    const dots = STEPS.map((_, at) => make("li", { class: at === index ? "here" : at < index ? "done" : "" }));
    const columns = `figures by-${Math.max(step.numbers.length / 2, 2)}`;
    const last = index === STEPS.length - 1;
    const button = (id, text, click, more = {}) => make("button", { id, type: "button", text, on: { click }, ...more });
    this.#root.replaceChildren(
      make(
        "div",
        { class: "bar" },
        make("span", { class: "quiet", id: "tour-step", text: `Step ${index + 1} of ${STEPS.length}` }),
        make("ol", { class: "dots", "aria-hidden": "true" }, ...dots),
        make(
          "div",
          { class: "row" },
          button("tour-leave", "Leave", () => this.leave()),
          button("tour-back", "Back", () => this.#go(index - 1), { disabled: index === 0 }),
          button("tour-next", last ? "Finish" : "Next", () => (last ? this.leave(true) : this.#go(index + 1)), { class: "main" }),
        ),
      ),
      make(
        "div",
        { class: "tour-body" },
        make(
          "div",
          {},
          make("h2", { tabIndex: -1, text: step.title }),
          make("p", { text: step.text }),
          make("p", { class: "look" }, make("b", { text: "Look: " }), step.look),
        ),
        make("div", { class: columns }, ...this.#figures.map(({ element }) => element), this.#note),
      ),
    );
  }

  /** Shows a second's numbers, and keeps them for the next step. */
  update(second, unit) {
    if (this.#step < 0) return;
    // The first second after a change still tells of what was before.
    if (this.#fresh && second.window_s > 2.5 && performance.now() - this.#since < PATIENCE_MS) return;
    this.#fresh = false;
    const settled = second.window_s >= SETTLED_S;
    const past = this.#seen[this.#step - 1] ?? {};
    for (const { entry, value, was } of this.#figures) {
      const show = (x) => (x === null ? "–" : FORMS[entry.key](x, unit));
      const earlier = entry.was === null ? undefined : past[`${entry.key} ${entry.was}`];
      write(value, show(settled ? worth(entry.key, second, entry.world) : null));
      write(was, earlier === undefined ? "" : `was ${show(earlier)}`);
    }
    const steady = second.window_s >= STEADY_S ? "" : `; steadier after ${STEADY_S} s`;
    write(this.#note, settled ? `over the last ${number(second.window_s, 0)} s${steady}` : "measuring… give it a few seconds");
    if (settled) this.#seen[this.#step] = allOf(second);
  }
}

function figure(entry) {
  const value = make("span", { class: "value", "data-test": `tour-${entry.key}-${WORLDS[entry.world]}` });
  const was = make("span", { class: "quiet", "data-test": `tour-was-${entry.key}-${WORLDS[entry.world]}` });
  const element = make("div", { class: `tour-figure ${WORLDS[entry.world]}` }, make("span", { text: entry.name }), value, was);
  return { entry, value, was, element };
}
