// Which charts there are, and what was in the last minute.

import { Chart } from "./charts.js";
import { craftColour, DASHES, WORLDS, worldColour } from "./colours.js";
import { byId } from "./dom.js";

const KEPT_S = 61;
const LEFT_DASH = [6, 4];

/** The charts. */
export class Graphs {
  history = [];
  #charts = {};

  constructor() {
    const add = (id, title, unit, more = {}) => (this.#charts[id] = new Chart({ id, title, unit, ...more }));
    add("error", "Error of each receiver", "UNIT, mean of each second", { wide: true });
    add("fairness", "Mean ± std over receivers", "UNIT");
    add("accumulated", "Accumulated error", "UNIT·s, since the last change", { wide: true });
    add("agreement", "Hits seen as they were", "% of shots", { digits: 0, most: 100 });
    add("vectors", "Vectors sent", "per second", { digits: 0 });
    add("bytes", "Bytes sent", "per second", { digits: 0 });
    add("clock", "Clocks, the worst receiver", "ms", { digits: 2, floor: 0.5 });
    byId("charts").append(...Object.values(this.#charts).map((chart) => chart.element));
  }

  /** Takes a second in and draws. */
  add(second, state, unit) {
    const before = this.history.at(-1);
    if (before && second.time_s <= before.time_s) this.history = [];
    const changed = before !== undefined && second.window_s < before.window_s - 0.5;
    this.history.push({ ...second, changed });
    while (this.history[0].time_s < second.time_s - KEPT_S) this.history.shift();
    this.draw(state, unit);
  }

  /** Draws what there is. */
  draw(state, unit) {
    if (!state || this.history.length === 0) return;
    const worlds = state.settings.right ? [0, 1] : [0];
    const receivers = (field) => worlds.map((world) => receiverPane(world, field, state));
    const both = (read, band) => [{ series: worlds.map((world) => worldLine(world, read, band)) }];
    const panes = {
      error: receivers("error"),
      accumulated: receivers("accumulated"),
      fairness: both(
        (w) => w.mean,
        (w) => w.std,
      ),
      agreement: both((w) => percent(mean(w.receivers, "agreement"))),
      vectors: both((w) => w.vectors_per_s),
      bytes: both((w) => w.bytes_per_s),
      clock: [{ series: clockLines() }],
    };
    for (const [id, chart] of Object.entries(this.#charts)) chart.draw(panes[id], this.history, unit);
  }
}

function receiverPane(world, field, state) {
  const series = state.views.map((view, index) => ({
    name: view.name,
    colour: craftColour(index),
    dash: DASHES[index % DASHES.length],
    read: (second) => second.worlds[world]?.receivers[index]?.[field],
  }));
  return { title: `${WORLDS[world]}: ${state.settings[WORLDS[world]].policy}`, series };
}

function worldLine(world, read, band) {
  const of = (get) => get && ((second) => (second.worlds[world] ? get(second.worlds[world]) : null));
  return { name: WORLDS[world], colour: worldColour(world), dash: world === 0 ? LEFT_DASH : [], read: of(read), band: of(band) };
}

function clockLines() {
  const worst = (second, field) =>
    most(
      second.worlds.flatMap((world) => world.receivers),
      field,
    );
  return [
    { name: "uncertainty", colour: craftColour(1), dash: LEFT_DASH, read: (second) => worst(second, "uncertainty_ms") },
    { name: "error", colour: craftColour(2), dash: [], read: (second) => worst(second, "clock_error_ms") },
  ];
}

const known = (receivers, field) =>
  receivers.map((receiver) => receiver[field]).filter((value) => value !== null && value !== undefined);

function mean(receivers, field) {
  const values = known(receivers, field);
  return values.length ? values.reduce((a, b) => a + b) / values.length : null;
}

function most(receivers, field) {
  const values = known(receivers, field).map(Math.abs);
  return values.length ? Math.max(...values) : null;
}

const percent = (share) => (share === null ? null : share * 100);
