// The page of Evenkeel's demo: what is here ties the parts together.
//
// For tests, stable handles. By id:
//   status, banner, banner-name, banner-position, meter, refused, news
//   tour-start, tour, tour-step, tour-note, tour-back, tour-next, tour-leave
//   play-open, join, join-name, join-note, join-go, join-cancel
//   play, play-canvas, play-status, play-facts, play-out, play-gun, play-scores, play-stick, play-fire, play-leave
//   links-open, links, links-note, links-list, links-close
//   follow, still, views, summary, charts, table-fold, table
//   controls-fold, controls, reset, group-policies, group-reckoning, group-game, group-networks (to unfold),
//   set-left-policy, set-left-budget, set-right, set-right-policy, set-right-budget, set-clock, set-distance, set-degrees,
//   set-lag-movement, set-lag-verdicts, set-game, set-crowd, set-bots (and each with `-hint`), networks
//   record, recording-file, recording-note, recordings, recording-close
// By data-test (W: left or right; N: index of the view; P: a player's name):
//   receiver-N, view-W-N, error-W-N, summary-W, summary-verdict, W-mean, W-std, W-worst, cell-W-N-COLUMN,
//   network-P-delay, network-P-jitter, network-P-loss,
//   chart-error, chart-fairness, chart-accumulated, chart-agreement, chart-vectors, chart-bytes, chart-clock,
//   tour-KEY-W, tour-was-KEY-W (KEY: mean, std, ratio, rate)
// And `window.evenkeelPage`, at the bottom of this file.

import { theme } from "./colours.js";
import { Controls } from "./controls.js";
import { byId, make, number, write } from "./dom.js";
import { Feed } from "./feed.js";
import { Graphs } from "./graphs.js";
import { showLinks } from "./links.js";
import { Meter } from "./meter.js";
import { Summary, Table } from "./numbers.js";
import { Play } from "./play.js";
import { Recording } from "./recording.js";
import { Tour } from "./tour.js";
import { Views } from "./views.js";

const KEPT_NEWS = 6;
const PHONE = matchMedia("(max-width: 820px)");

const feed = new Feed();
let asked = null;
// Whoever sends a command is told if it cannot be.
const commands = (part) => (object) => {
  asked = part();
  return feed.send(object);
};
const [views, graphs, summary, table, meter] = [new Views(), new Graphs(), new Summary(), new Table(), new Meter()];
const controls = new Controls(commands(() => controls));
const recording = new Recording(commands(() => recording));
const tour = new Tour(
  commands(() => tour),
  () => feed.state?.settings ?? null,
);
const play = new Play(feed);

function showStatus() {
  const opened = feed.state?.opened ?? null;
  const state = !feed.online ? "offline" : opened ? "recording" : "live";
  const words = { offline: feed.hello ? "server gone; waiting for it…" : "connecting…", recording: "recording", live: "live" };
  byId("status").dataset.state = document.body.dataset.state = state;
  write(byId("status"), words[state]);
}

function nameCrafts(game) {
  const words = { crafts: game, craft: game.replace(/s$/, "") };
  for (const element of document.querySelectorAll("[data-word]")) write(element, words[element.dataset.word]);
}

function showState(state) {
  const unit = feed.game?.unit ?? "";
  nameCrafts(state.settings.game);
  views.update(state);
  controls.show(state.settings, { views: state.views, unit, frozen: state.opened !== null });
  recording.show(state);
  byId("tour-start").disabled = byId("play-open").disabled = state.opened !== null;
  showStatus();
}

function showSecond(second) {
  const { state } = feed;
  if (!state) return;
  const unit = feed.game?.unit ?? "";
  recording.update(second);
  graphs.add(second, state, unit);
  const rated = { ...second, worlds: second.worlds.map((world, index) => ({ ...world, rate: graphs.rate(index) })) };
  summary.update(rated, unit);
  table.update(second, state, unit);
  tour.update(rated, unit);
  const { median, p99, fps } = meter.read();
  const cpu = second.server_cpu === null ? "" : ` · server ${number(second.server_cpu * 100, 0)} % of a processor`;
  write(
    byId("meter"),
    `page ${number(fps, 0)} frames/s, ${number(median, 1)} ms each (99 %: ${number(p99, 1)} ms)${cpu} · Evenkeel ${feed.hello.program}`,
  );
}

function showNews({ text }) {
  byId("news").prepend(make("li", { text }));
  while (byId("news").children.length > KEPT_NEWS) byId("news").lastChild.remove();
}

function listen() {
  const on = (kind, take) => feed.addEventListener(kind, (event) => take(event.detail));
  let program = null;
  on("hello", (hello) => {
    // Another program came back: its page may be another one, too.
    if (program !== null && program !== hello.program) location.reload();
    program = hello.program;
    controls.offer(hello.policies);
    showLinks(hello.links);
  });
  on("state", showState);
  on("second", showSecond);
  on("news", showNews);
  on("refused", ({ why }) => (asked ?? controls).refuse(why));
  on("recorded", (file) => recording.offer(file));
  on("online", showStatus);
  on("offline", showStatus);
}

const empty = byId("views-empty");
let painted = theme.version;

function draw(time) {
  const start = performance.now();
  const { state, game } = feed;
  const picture = feed.picture(time / 1000);
  if (picture && game) {
    views.draw(picture, state, game, time / 1000);
    if (!empty.hidden) empty.hidden = true;
  }
  play.tick();
  if (painted !== theme.version) graphs.draw(state, game?.unit ?? "");
  painted = theme.version;
  meter.add(start, performance.now());
  requestAnimationFrame(draw);
}

function setUp() {
  const still = byId("still");
  const reduced = matchMedia("(prefers-reduced-motion: reduce)");
  const setStill = (value) => {
    views.still = value;
    still.setAttribute("aria-pressed", String(value));
  };
  still.addEventListener("click", () => setStill(!views.still));
  reduced.addEventListener("change", () => setStill(reduced.matches));
  setStill(reduced.matches);
  byId("links-open").addEventListener("click", () => byId("links").showModal());
  byId("table-fold").addEventListener(
    "toggle",
    () => feed.second && table.update(feed.second, feed.state, feed.game?.unit ?? ""),
  );
  byId("controls-fold").open = !PHONE.matches;
}

listen();
setUp();
feed.connect();
requestAnimationFrame(draw);

window.evenkeelPage = {
  /** Median and 99th percentile of the work per frame in milliseconds, and frames per second. */
  frameTimes: () => meter.read(),
  get hello() {
    return feed.hello;
  },
  get state() {
    return feed.state;
  },
  get lastSecond() {
    return feed.second;
  },
  get online() {
    return feed.online;
  },
  /** The newest pictures. */
  get film() {
    return feed.film;
  },
  /** Pictures that came so far. */
  get pictures() {
    return feed.pictures;
  },
  /** The present error in every view: world (0: left), view, error. */
  get views() {
    return views.panes.map(({ world, view, error }) => ({ world, view, error }));
  },
  get tourStep() {
    return tour.step;
  },
  get play() {
    return { ...play.status, frame: play.frame };
  },
  send: commands(() => controls),
};
