// A worker that plays: it holds the player as WebAssembly and the connection, so that what arrives is stamped when it arrives and
// not when the page has finished drawing. See docs/DEMO.md for how a page talks to it.

import { connect, now } from "./transport.js";

const STEP_MS = 20;
// How long to wait before the next attempt to connect: the first, and the most.
const PATIENCE_MS = [100, 3000];
const STATES = ["connecting", "joined", "lost", "refused", "over"];
// A frame's numbers, as crates/evenkeel-web/src/frame.rs has them.
const HEAD = 22;

let machine = null;
let target = null;
let connection = null;
let ended = true;
// Which time of joining this is.
let round = 0;
let pollTimer = 0;
let stepTimer = 0;
let told = -1;
let names = {};
let shown = "";
// What is held, also before there is a player.
let keys = [0, 0];

self.onmessage = ({ data }) => {
  const act = commands[data && data.kind];
  if (act) guarded(() => act(data));
};

const commands = {
  join: (wish) => join(wish),
  keys: ({ speed, turn }) => {
    keys = [speed | 0, turn | 0];
    if (machine) machine.keys(...keys);
  },
  fire: () => {
    if (machine && !ended) machine.fire(now());
    pump();
  },
  frame: () => frame(),
  leave: () => leave("left the game"),
};

/// Whatever goes wrong inside the module ends this player, and the page hears of it.
function guarded(act) {
  try {
    const done = act();
    if (done && done.catch) done.catch((error) => fail(error));
  } catch (error) {
    fail(error);
  }
}

function fail(error) {
  stop();
  tell("refused", `playing has failed: ${(error && error.message) || error}. Reload the page to try again.`);
}

/// The page hears of every change, once.
function tell(state, why) {
  const carrier = connection ? connection.carrier : null;
  const status = { kind: "status", state, why: why || "", carrier };
  const text = JSON.stringify(status);
  if (text !== shown) self.postMessage(status);
  shown = text;
}

async function join({ url, websocket, hashes, session, name }) {
  // Who is playing already is told where the server is by now: after a restart it may have another certificate.
  if (!ended) return void (target = { url, websocket, hashes });
  [ended, told, names, shown] = [false, -1, {}, ""];
  target = { url, websocket, hashes };
  tell("loading");
  machine = await load();
  const refused = machine.join(session, name);
  if (refused !== null) {
    stop();
    return tell("refused", refused);
  }
  machine.keys(...keys);
  if (typeof WebTransport !== "function" && (!websocket || typeof WebSocket !== "function")) {
    stop();
    return tell(
      "refused",
      "This browser can play neither over WebTransport nor over a WebSocket: open the page in a recent Chrome, Edge or Firefox. Watching works all the same.",
    );
  }
  stepTimer = setInterval(() => guarded(step), STEP_MS);
  await stayConnected();
}

/// Connects, again and again, until this round of the game is over.
async function stayConnected() {
  const mine = ++round;
  const over = () => ended || mine !== round;
  let patience = PATIENCE_MS[0];
  let everConnected = false;
  tell("connecting");
  while (!over()) {
    let why;
    try {
      why = `${bare(await attempt(over))}. Connecting again.`;
      if (over()) return;
      machine.lost(why, now());
      [everConnected, patience] = [true, PATIENCE_MS[0]];
    } catch (error) {
      why = `${bare(error.message)}. ${everConnected ? "Connecting again." : advice()}`;
    }
    if (over()) return;
    connection = null;
    tell(everConnected ? "lost" : "connecting", why);
    await new Promise((resolve) => setTimeout(resolve, patience));
    patience = Math.min(2 * patience, PATIENCE_MS[1]);
  }
}

/// Browsers end their sentences as they like.
const bare = (sentence) => sentence.replace(/[.\s]+$/, "");

/// What somebody can do whose browser does not get through.
function advice() {
  if (typeof WebTransport === "function") return "Trying again; if this lasts, check that UDP is not blocked and that the server runs.";
  const address = target.websocket.replace(/^wss:/, "https:");
  return `Trying again. Without WebTransport, the browser must trust the server's certificate: open ${address} once and accept it, or use a recent Chrome, Edge or Firefox.`;
}

/// A connection from its beginning to its end: resolves to why it ended, and throws if it never began.
async function attempt(over) {
  let closed;
  const end = new Promise((resolve) => (closed = resolve));
  const received = (kind, bytes, at) => {
    if (!over()) guarded(() => receive(kind, bytes, at));
  };
  const opened = await connect(target, { received, closed });
  if (over()) {
    opened.close("left the game");
    return "";
  }
  connection = opened;
  machine.connected();
  pump();
  return end;
}

function receive(kind, bytes, at) {
  const wrong = machine.handle(kind, bytes, at);
  if (wrong !== null && connection) connection.end(`the server cannot be understood: ${wrong}`);
  look();
  pump();
}

function step() {
  machine.step(now());
  look();
  pump();
}

/// Sends what is due, and comes back when more will be.
function pump() {
  if (ended || !machine) return;
  clearTimeout(pollTimer);
  if (!connection) return;
  for (let next = machine.poll(now()); next !== null; next = machine.poll(now())) connection.send(next.kind, next.bytes);
  const wait = machine.timeout(now());
  if (wait >= 0) pollTimer = setTimeout(() => guarded(pump), Math.min(Math.ceil(wait / 1e6), 1000));
}

/// Whether how things stand has changed.
function look() {
  const numbers = machine.frame(now());
  if (numbers.length < HEAD || numbers[1] === told) return numbers;
  told = numbers[1];
  const texts = machine.texts();
  names = texts.names;
  const state = STATES[numbers[0]];
  if (state === "refused") stop();
  tell(state, texts.why);
  return numbers;
}

function frame() {
  if (!machine || ended) return;
  const n = look();
  pump();
  if (ended || n.length < HEAD) return;
  const known = (number) => (Number.isNaN(number) ? null : number);
  const own = n[8]
    ? { x: n[9], y: n[10], heading: n[11], alive: n[12] === 1, out_s: n[13], loaded: n[14], at_once: n[15] === 1, hits: n[16], deaths: n[17] }
    : null;
  const lists = [];
  let at = HEAD;
  for (const [count, width] of [[n[18], 6], [n[19], 3], [n[20], 5], [n[21], 3]]) {
    lists.push(n.slice(at, at + count * width));
    at += count * width;
  }
  const [others, shots, beams, scored] = lists;
  const scores = [];
  for (let i = 0; i < scored.length; i += 3) scores.push([scored[i], scored[i + 1], scored[i + 2]]);
  self.postMessage({
    kind: "frame",
    time_s: known(n[2]),
    you: known(n[3]),
    uncertainty_ms: known(n[4]),
    delay_ms: known(n[5]),
    round_trip_ms: known(n[6]),
    lag_ms: n[7],
    carrier: connection ? connection.carrier : null,
    own,
    others,
    shots,
    beams,
    names,
    scores,
  });
}

async function leave(reason) {
  if (ended || !machine) return;
  machine.leave();
  pump();
  const last = connection;
  stop(false);
  tell("over", "");
  if (last) await last.close(reason);
}

function stop(close = true) {
  const last = connection;
  [ended, connection] = [true, null];
  clearTimeout(pollTimer);
  clearInterval(stepTimer);
  if (close && last) last.close("");
}

async function load() {
  const response = await fetch("evenkeel.wasm");
  if (!response.ok) throw new Error(`evenkeel.wasm is not there (${response.status})`);
  const { instance } = await WebAssembly.instantiate(await response.arrayBuffer(), {});
  return new Machine(instance.exports);
}

/// The module's functions, with bytes and texts instead of places in its memory.
export class Machine {
  constructor(exports) {
    this.module = exports;
  }

  /// Places change whenever the module's memory grows: they are looked up each time.
  write(bytes) {
    if (bytes.length > 1024 * 1024) throw new Error("that is more than the player takes");
    const at = this.module.evenkeel_input(bytes.length);
    new Uint8Array(this.module.memory.buffer, at, bytes.length).set(bytes);
  }

  read() {
    const [at, length] = [this.module.evenkeel_output(), this.module.evenkeel_output_length()];
    return new Uint8Array(this.module.memory.buffer, at, length).slice();
  }

  /// Null, or what was wrong.
  answer(wrong) {
    return wrong ? new TextDecoder().decode(this.read()) : null;
  }

  join(session, name) {
    const encoder = new TextEncoder();
    const [a, b] = [encoder.encode(session), encoder.encode(name)];
    const bytes = new Uint8Array(16 + a.length + b.length);
    crypto.getRandomValues(bytes.subarray(0, 16));
    bytes.set(a, 16);
    bytes.set(b, 16 + a.length);
    this.write(bytes);
    return this.answer(this.module.evenkeel_join(a.length));
  }

  connected() {
    return this.answer(this.module.evenkeel_connected());
  }

  lost(why, at) {
    this.write(new TextEncoder().encode(why));
    this.module.evenkeel_lost(at);
  }

  handle(kind, bytes, at) {
    this.write(bytes);
    return this.answer(this.module.evenkeel_handle(kind, at));
  }

  poll(at) {
    const kind = this.module.evenkeel_poll(at);
    return kind < 0 ? null : { kind, bytes: this.read() };
  }

  /// Nanoseconds, or -1.
  timeout(at) {
    return Number(this.module.evenkeel_timeout(at));
  }

  keys(speed, turn) {
    this.module.evenkeel_keys(speed, turn);
  }

  fire(at) {
    return this.module.evenkeel_fire(at) === 1;
  }

  step(at) {
    this.module.evenkeel_step(at);
  }

  frame(at) {
    this.module.evenkeel_frame(at);
    return new Float64Array(this.read().buffer);
  }

  texts() {
    this.module.evenkeel_texts();
    const bytes = this.read();
    const view = new DataView(bytes.buffer);
    const texts = { why: "", names: {} };
    for (let at = 0; at < bytes.length; ) {
      const [number, length] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
      const text = new TextDecoder().decode(bytes.subarray(at + 8, at + 8 + length));
      if (at === 0) texts.why = text;
      else texts.names[number] = text;
      at += 8 + length;
    }
    return texts;
  }

  leave() {
    this.module.evenkeel_leave();
  }
}
