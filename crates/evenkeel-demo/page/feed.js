// The connection to the demo: texts, pictures, and coming back when the server was started anew.

import { Film } from "./frame.js";

const SHORTEST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 4000;

/**
 * Events: `hello`, `state`, `second`, `news`, `refused`, `recorded` with the text as detail; `online`, `offline`.
 */
export class Feed extends EventTarget {
  hello = null;
  state = null;
  second = null;
  online = false;
  film = new Film();
  pictures = 0;
  #wait = SHORTEST_WAIT_MS;
  #socket = null;

  /** Connects, and stays connected. */
  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/feed`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", (event) => this.#take(event.data));
    socket.addEventListener("close", () => this.#lost());
    this.#socket = socket;
  }

  /** Sends a command. False if nobody hears it. */
  send(command) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(command));
    return true;
  }

  /** The picture to draw now, if it belongs to the state that is known. */
  picture(now) {
    const { film, state } = this;
    const newest = film.frames[0];
    const known = state && newest.generation === (state.generation & 255) && newest.crafts === state.crafts.length;
    return known && newest.views === state.views.length ? film.at(now, 8 * (this.game?.radius ?? 3)) : null;
  }

  /** The game that is played, as `hello` describes it. */
  get game() {
    return this.hello?.games[this.state?.settings.game ?? "tanks"] ?? null;
  }

  #take(data) {
    if (data instanceof ArrayBuffer) {
      this.pictures += this.film.add(data) ? 1 : 0;
      return;
    }
    let text;
    try {
      text = JSON.parse(data);
    } catch {
      return;
    }
    if (text.kind === "hello") this.#greeted();
    if (["hello", "state", "second"].includes(text.kind)) this[text.kind] = text;
    this.dispatchEvent(new CustomEvent(text.kind, { detail: text }));
  }

  #greeted() {
    this.online = true;
    this.#wait = SHORTEST_WAIT_MS;
    this.film.clear();
    this.dispatchEvent(new Event("online"));
  }

  #lost() {
    if (this.online) {
      this.online = false;
      this.film.clear();
    }
    this.dispatchEvent(new Event("offline"));
    setTimeout(() => this.connect(), this.#wait);
    this.#wait = Math.min(this.#wait * 1.6, LONGEST_WAIT_MS);
  }
}
