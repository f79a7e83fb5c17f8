// What fingers do: keys on a keyboard, a stick and a button on a screen.

import { make } from "./dom.js";

const AHEAD = { ArrowUp: 1, KeyW: 1, ArrowDown: -1, KeyS: -1 };
const TURN = { ArrowLeft: 1, KeyA: 1, ArrowRight: -1, KeyD: -1 };
const FULL = 100;

/** Says `steer(speed, turn)`, each -100 to 100 (left is positive), when they change, and `fire()`. */
export class Steering {
  #held = new Set();
  #stick = { speed: 0, turn: 0 };
  #said = "";
  #steer;
  #fire;
  #stop = new AbortController();

  constructor(steer, fire) {
    this.#steer = steer;
    this.#fire = fire;
    const { signal } = this.#stop;
    addEventListener("keydown", (event) => this.#key(event, true), { signal });
    addEventListener("keyup", (event) => this.#key(event, false), { signal });
    addEventListener("blur", () => this.#release(), { signal });
    this.element = make("div", { class: "touch" }, this.#makeStick(), this.#makeButton());
  }

  /** Lets go of everything. */
  stop() {
    this.#stop.abort();
  }

  #release() {
    this.#held.clear();
    this.#stick = { speed: 0, turn: 0 };
    this.#say();
  }

  #key(event, down) {
    const known = event.code in AHEAD || event.code in TURN || event.code === "Space";
    // Whoever types a name or moves a slider does not drive; a button in focus keeps its space bar.
    const elsewhere =
      event.target.closest?.("input, select, textarea, dialog, summary, a") ||
      (event.code === "Space" && event.target.closest?.("button"));
    if (!known || event.ctrlKey || event.metaKey || event.altKey || (down && elsewhere)) return;
    if (down) event.preventDefault();
    if (event.code === "Space") {
      if (down && !event.repeat) this.#fire();
      return;
    }
    if (down) this.#held.add(event.code);
    else this.#held.delete(event.code);
    this.#say();
  }

  #say() {
    const sum = (keys) => [...this.#held].reduce((total, code) => total + (keys[code] ?? 0), 0);
    const clamp = (value) => Math.round(Math.max(-FULL, Math.min(FULL, value)));
    const speed = clamp(sum(AHEAD) * FULL + this.#stick.speed);
    const turn = clamp(sum(TURN) * FULL + this.#stick.turn);
    const said = `${speed} ${turn}`;
    if (said !== this.#said) this.#steer(speed, turn);
    this.#said = said;
  }

  #makeStick() {
    const knob = make("div", { class: "knob" });
    const stick = make("div", { class: "stick", id: "play-stick", "aria-hidden": "true" }, knob);
    let middle = null;
    const move = (event) => {
      if (!middle) return;
      const { x, y, reach } = middle;
      const [right, down] = [(event.clientX - x) / reach, (event.clientY - y) / reach];
      const length = Math.max(1, Math.hypot(right, down));
      this.#stick = { speed: (-down / length) * FULL, turn: (-right / length) * FULL };
      knob.style.transform = `translate(${(right / length) * reach}px, ${(down / length) * reach}px)`;
      this.#say();
    };
    const end = () => {
      middle = null;
      knob.style.transform = "";
      this.#release();
    };
    stick.addEventListener("pointerdown", (event) => {
      const box = stick.getBoundingClientRect();
      middle = { x: box.left + box.width / 2, y: box.top + box.height / 2, reach: box.width / 2.6 };
      stick.setPointerCapture(event.pointerId);
      move(event);
    });
    stick.addEventListener("pointermove", move);
    stick.addEventListener("pointerup", end);
    stick.addEventListener("pointercancel", end);
    return stick;
  }

  #makeButton() {
    const button = make("button", { class: "fire", id: "play-fire", type: "button", text: "Fire" });
    button.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.#fire();
    });
    button.addEventListener("click", (event) => {
      if (event.detail === 0) this.#fire();
    });
    return button;
  }
}
