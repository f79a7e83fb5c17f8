// Joining as a player: the dialog, the worker that is the player, the own view, and coming back after a loss.

import { colourOf, PERSON } from "./colours.js";
import { byId, make, number, write } from "./dom.js";
import { PlayView } from "./playview.js";
import { Steering } from "./steering.js";

const NAME_KEY = "evenkeel-name";
const PATIENCE_MS = 300;
const FACTS_MS = 250;
const SCORES = 8;
const SAID = {
  loading: "loading…",
  connecting: "connecting…",
  joined: "in the game",
  lost: "connection lost; coming back…",
  refused: "not let in",
  over: "left",
};

/** Playing. `feed` says where and what. */
export class Play {
  #feed;
  #dialog = byId("join");
  #root = byId("play");
  #name = "";
  #worker = null;
  #view = null;
  #steering = null;
  #parts = null;
  #asked = 0;
  #written = 0;
  status = { state: "out", why: "", carrier: null };
  frame = null;

  constructor(feed) {
    this.#feed = feed;
    byId("play-open").addEventListener("click", () => this.#ask());
    byId("join-cancel").addEventListener("click", () => this.#dialog.close("cancel"));
    this.#dialog.addEventListener("close", () => {
      if (this.#dialog.returnValue === "go") this.join(byId("join-name").value.trim() || "you");
    });
    feed.addEventListener("hello", () => this.#returned());
  }

  get playing() {
    return this.#parts !== null;
  }

  #ask() {
    if (this.playing) {
      this.#root.scrollIntoView();
      return;
    }
    const { hello } = this.#feed;
    const able = hello?.play.wasm === true;
    const note = !hello
      ? "Not connected to the demo yet."
      : able
        ? transportNote(hello)
        : (hello.play.how ?? "Playing was not built into this program; watching works.");
    write(byId("join-note"), note);
    byId("join-fields").hidden = byId("join-go").hidden = !able;
    byId("join-name").value = remembered();
    byId("join-name").required = able;
    this.#dialog.returnValue = "";
    this.#dialog.showModal();
  }

  /** Joins under a name. */
  join(name) {
    this.#name = name;
    remember(name);
    this.#build();
    this.#start();
  }

  #start() {
    const worker = new Worker("player.js", { type: "module" });
    // One that was left may still have something to say.
    worker.addEventListener("message", ({ data }) => worker === this.#worker && this.#take(data));
    worker.addEventListener("error", (event) =>
      this.#say({ state: "refused", why: event.message || "player.js could not be loaded" }),
    );
    this.#worker = worker;
    this.#say({ state: "loading" });
    this.#point();
  }

  // Says where the server is. Who plays already goes on there when the connection is lost.
  #point() {
    const { play } = this.#feed.hello;
    this.#worker.postMessage({
      kind: "join",
      url: `https://${location.hostname}:${play.port}${play.path}`,
      websocket: play.websocket_port ? `wss://${location.hostname}:${play.websocket_port}/` : null,
      hashes: play.hashes,
      session: play.session,
      name: this.#name,
    });
  }

  #take(message) {
    if (message.kind === "status") this.#say(message);
    if (message.kind !== "frame") return;
    this.#asked = 0;
    this.frame = message;
    const { game, state } = this.#feed;
    if (!game || !this.#view) return;
    const crafts = new Map(state.crafts.map((craft) => [craft.name, colourOf(craft)]));
    this.#view.draw(message, game, state.settings.game, (host) =>
      host === message.you ? PERSON : (crafts.get(message.names[host]) ?? Number(host) % 8),
    );
    this.#write(message);
  }

  /** Once per frame of the page: asks for the next picture when the last one has come. */
  tick() {
    const now = performance.now();
    if (this.status.state !== "joined" || (this.#asked && now - this.#asked < PATIENCE_MS)) return;
    this.#asked = now;
    this.#worker.postMessage({ kind: "frame" });
  }

  #say({ state, why = "", carrier = null }) {
    if (!this.playing) return;
    this.status = { state, why, carrier };
    this.#asked = 0;
    this.#parts.status.dataset.state = state;
    write(this.#parts.status, [SAID[state] ?? state, why].filter(Boolean).join(": "));
  }

  // The server was started anew, perhaps with another certificate: whoever was in the game comes back into it.
  #returned() {
    if (this.playing && this.status.state !== "refused") this.#point();
  }

  /** Leaves the game. */
  leave() {
    const worker = this.#worker;
    worker?.postMessage({ kind: "leave" });
    // It has a moment to say good-bye.
    setTimeout(() => worker?.terminate(), 500);
    this.#steering?.stop();
    this.#view?.stop();
    this.#worker = this.#view = this.#steering = this.#parts = this.frame = null;
    this.status = { state: "out", why: "", carrier: null };
    this.#root.hidden = true;
    this.#root.replaceChildren();
    document.body.classList.remove("playing");
    byId("play-open").focus();
  }

  #build() {
    const post = (message) => this.#worker?.postMessage(message);
    this.#steering = new Steering(
      (speed, turn) => post({ kind: "keys", speed, turn }),
      () => post({ kind: "fire" }),
    );
    const canvas = make("canvas", {
      id: "play-canvas",
      role: "img",
      tabIndex: 0,
      "aria-label": "Your own view: what you drive is in the middle",
    });
    this.#parts = {
      status: make("span", { id: "play-status", class: "pill", role: "status" }),
      facts: make("span", { id: "play-facts", class: "facts" }),
      out: make("p", { id: "play-out", class: "play-out", role: "status" }),
      gun: make("span", { id: "play-gun" }),
      scores: make("ol", { id: "play-scores", class: "scores", "aria-label": "Scores" }),
    };
    const leave = make("button", { id: "play-leave", type: "button", text: "Leave", on: { click: () => this.leave() } });
    const { status, facts, out, gun, scores } = this.#parts;
    this.#root.replaceChildren(
      make("div", { class: "bar" }, make("h2", { text: this.#name }), status, facts, leave),
      make(
        "div",
        { class: "play-stage" },
        canvas,
        out,
        make("div", { class: "play-side" }, make("div", {}, "shots ", gun), scores),
        this.#steering.element,
      ),
    );
    this.#view = new PlayView(canvas);
    this.#root.hidden = false;
    document.body.classList.add("playing");
    canvas.focus({ preventScroll: true });
    this.#root.scrollIntoView({ block: "start" });
  }

  #write(frame) {
    const { own, names, scores, you } = frame;
    const { facts, out, gun, scores: list } = this.#parts;
    const now = performance.now();
    if (now - this.#written > FACTS_MS) {
      write(facts, factsOf(frame));
      this.#written = now;
    }
    write(out, own && !own.alive ? `Hit. Back in ${Math.ceil(Math.max(own.out_s, 0))} s` : "");
    write(gun, "●".repeat(Math.min(own?.loaded ?? 0, 9)) || "loading");
    const lines = best(scores, you);
    while (list.children.length > lines.length) list.lastChild.remove();
    while (list.children.length < lines.length) list.append(make("li"));
    lines.forEach(([host, hits, deaths], index) => {
      write(list.children[index], `${names[host] ?? `player ${host}`}  ${hits} : ${deaths}`);
      list.children[index].classList.toggle("you", Number(host) === you);
    });
  }
}

/** The best lines, and always the own one. */
function best(scores, you) {
  const sorted = [...scores].sort((a, b) => b[1] - a[1]);
  const own = sorted.findIndex(([host]) => Number(host) === you);
  return own < SCORES ? sorted.slice(0, SCORES) : [...sorted.slice(0, SCORES - 1), sorted[own]];
}

/** The player's own numbers in words. */
function factsOf({ round_trip_ms, uncertainty_ms, lag_ms, carrier, own }) {
  const lag = lag_ms > 0 ? `lag ${number(lag_ms, 0)} ms${own?.at_once ? ", but your own craft at once" : ""}` : null;
  const parts = [
    carrier ?? "no connection",
    `to the server and back ${number(round_trip_ms, 0)} ms`,
    `clock ± ${number(uncertainty_ms, 1)} ms`,
    lag,
  ];
  return parts.filter(Boolean).join(" · ");
}

// Some browsers are set not to keep anything.
function remembered() {
  try {
    return localStorage.getItem(NAME_KEY) ?? "";
  } catch {
    return "";
  }
}

function remember(name) {
  try {
    localStorage.setItem(NAME_KEY, name);
  } catch {
    // It is asked for again next time.
  }
}

/** What a person should know about the way to the server. */
function transportNote(hello) {
  if ("WebTransport" in globalThis) return "You join world A, over WebTransport.";
  const secure = hello.links.find((link) => link.url.startsWith("https:"));
  if (!isSecureContext && secure)
    return `This page came over plain http, where browsers switch WebTransport off. Open ${secure.url} to play over it; from here a WebSocket is tried. Watching works.`;
  return "This browser has no WebTransport: a WebSocket is used instead, which stalls where packets get lost. Watching works as always.";
}
