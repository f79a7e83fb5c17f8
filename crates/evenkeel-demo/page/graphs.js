// Which charts there are, and what was in the last minute.

import { Chart } from "./charts.js";
import { craftColour, DASHES, TITLES, WORLDS, worldColour } from "./colours.js";
import { byId } from "./dom.js";

const KEPT_S = 61;
const ENOUGH_S = 20;
const LEFT_DASH = [6, 4];

/** The charts. */
export class Graphs {
  history = [];
  #charts = {};
  #of = "";

  constructor() {
    const add = (id, title, unit, more = {}) => (this.#charts[id] = new Chart({ id, title, unit, ...more }));
    add("error", "Error of each receiver", "UNIT, mean of each second", { wide: true });
    add("fairness", "Mean ± std over receivers", "UNIT");
    add("accumulated", "Accumulated error", "UNIT·s, since the last change", { wide: true });
    add("agreement", "Hits seen as they were", "% of shots", { digits: 0, most: 100 });
    add("vectors", "Messages sent", "per second", { digits: 0 });
    add("bytes", "Bytes sent", "per second", { digits: 0 });
    add("clock", "Clocks, the worst receiver", "ms", { digits: 2, floor: 0.5 });
    byId("charts").append(...Object.values(this.#charts).map((chart) => chart.element));
  }

  /** Takes a second in and draws. */
  add(second, state, unit) {
    const of = JSON.stringify([state.opened, state.settings.game, second.worlds.length, state.views.map((view) => view.name)]);
    if (of !== this.#of || second.time_s <= this.history.at(-1)?.time_s) this.history = [];
    this.#of = of;
    const before = this.history.at(-1);
    const changed = before !== undefined && second.window_s < before.window_s - 0.5;
    this.history.push({ ...second, changed });
    while (this.history[0].time_s < second.time_s - KEPT_S) this.history.shift();
    this.draw(state, unit);
  }

  /** What a world sent per second, over the window: fewer seconds say little, and who came later has not heard enough of them. */
  rate(world) {
    const since = this.history.findLastIndex((second) => second.changed);
    const { time_s, window_s } = this.history.at(-1);
    const seconds = this.history.filter((second, at) => at >= since && second.time_s > time_s - window_s);
    const enough = seconds.length >= Math.min(window_s, ENOUGH_S) - 2;
    const sum = (field) => seconds.reduce((all, second) => all + (second.worlds[world]?.[field] ?? 0), 0);
    const average = (field) => (enough ? sum(field) / seconds.length : null);
    return { vectors: average("vectors_per_s"), bytes: average("bytes_per_s") };
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
  return { title: `${TITLES[world]}: ${state.settings[WORLDS[world]].policy}`, series };
}

function worldLine(world, read, band) {
  const of = (get) => get && ((second) => (second.worlds[world] ? get(second.worlds[world]) : null));
  return { name: TITLES[world], colour: worldColour(world), dash: world === 0 ? LEFT_DASH : [], read: of(read), band: of(band) };
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
