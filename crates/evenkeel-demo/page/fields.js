// Form fields that show what the server says and send what a person wants.

import { make, write } from "./dom.js";

const DRAG_PAUSE_MS = 120;

/** What every field has: a label, a hint, and a place for the reason why something cannot be. */
class Field {
  constructor({ id, label, hint = "" }, input) {
    this.input = input;
    this.hint = hint;
    Object.assign(input, { id });
    input.setAttribute("aria-describedby", `${id}-hint`);
    this.note = make("p", { id: `${id}-hint`, class: "hint", text: hint });
    this.element = make("div", { class: "field" }, make("label", { for: id, text: label }), input, this.note);
  }

  /** Says why what was wanted cannot be. */
  refuse(why) {
    write(this.note, why);
    this.note.classList.add("refused");
    this.note.setAttribute("role", "alert");
    this.input.setAttribute("aria-invalid", "true");
  }

  /** Forgets a refusal. */
  accept() {
    write(this.note, this.hint);
    this.note.classList.remove("refused");
    this.note.removeAttribute("role");
    this.input.removeAttribute("aria-invalid");
  }

  /** Another hint. */
  explain(hint) {
    this.hint = hint;
    if (!this.note.classList.contains("refused")) write(this.note, hint);
  }
}

/** One of several: `options` are `[value, text]`, or `[label, options]` for a group of them. */
export class Choice extends Field {
  constructor(options) {
    const input = make("select", { on: { change: () => options.send(this.input.value, this) } });
    super(options, input);
    this.offer(options.options ?? []);
  }

  offer(options) {
    const choice = ([value, text]) =>
      Array.isArray(text) ? make("optgroup", { label: value }, ...text.map(choice)) : make("option", { value, text });
    this.input.replaceChildren(...options.map(choice));
  }

  show(value) {
    const known = [...this.input.options].some((option) => option.value === value);
    if (!known) this.input.append(make("option", { value, text: value }));
    if (this.input.value !== value) this.input.value = value;
  }
}

/** On or off. */
export class Switch extends Field {
  constructor(options) {
    super(options, make("input", { type: "checkbox", on: { change: () => options.send(this.input.checked, this) } }));
    this.element.classList.add("switch");
  }

  show(value) {
    this.input.checked = value;
  }
}

/** A text, sent when it is complete. */
export class Words extends Field {
  constructor({ list, send, ...options }) {
    const input = make("input", { type: "text", autocomplete: "off", spellcheck: false, list });
    super(options, input);
    this.show = typed(input, () => send(input.value.trim(), this));
  }
}

/** Sends what is typed into an input when it is complete. Gives what shows a value there, except to somebody who is typing. */
function typed(input, send) {
  let [typing, shown] = [false, ""];
  input.addEventListener("input", () => (typing = true));
  input.addEventListener("blur", () => (typing = false));
  input.addEventListener("change", () => {
    typing = false;
    if (input.value.trim() === "") input.value = shown;
    else send();
  });
  return (value) => {
    shown = String(value);
    if (!typing && input.value !== shown) input.value = shown;
  };
}

/** A number with a slider. It acts while it is dragged, but not more often than is of use. */
export class Slider extends Field {
  #timer = 0;
  #dragged = -Infinity;

  constructor(options) {
    const { min, max, step, unit } = options;
    super(options, make("input", { type: "range", on: { input: () => this.#drag(options) } }));
    Object.assign(this.input, { min, max, step });
    this.unit = unit;
    this.value = make("output", { for: options.id });
    this.element.classList.add("slider");
    this.input.after(this.value);
  }

  #drag({ send }) {
    this.#write(this.input.value);
    this.#dragged = performance.now();
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      send(Number(this.input.value), this);
    }, DRAG_PAUSE_MS);
  }

  show(value) {
    // Answers to what was dragged a moment ago do not pull the handle back.
    if (this.#timer || performance.now() - this.#dragged < 400) return;
    this.input.value = value;
    this.#write(value);
  }

  #write(value) {
    write(this.value, `${value} ${this.unit}`);
    this.input.setAttribute("aria-valuetext", `${value} ${this.unit}`);
  }
}

/** A bare number in a table. */
export class Cell {
  constructor({ label, min, max, step, send, test }) {
    const input = make("input", { type: "number", min, max, step, "aria-label": label, "data-test": test });
    this.element = make("td", {}, input);
    this.show = typed(input, () => send(Number(input.value)));
  }
}
