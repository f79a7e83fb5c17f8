// Keeping a run, and looking at one that was kept.

import { byId, make, write } from "./dom.js";

/** The recording's buttons, links and banner. `command(object)` sends. */
export class Recording {
  #record = byId("record");
  #note = byId("recording-note");
  #recording = false;
  #begun = 0;
  #opened = null;
  #position = 0;
  #lengths = new Map();

  constructor(command) {
    this.#record.addEventListener("click", () => command({ do: this.#recording ? "stop-recording" : "record" }));
    byId("recording-close").addEventListener("click", () => command({ do: "close-recording" }));
    byId("recording-file").addEventListener("change", (event) => this.#open(event.target));
  }

  /** Shows whether something is recorded or looked at. */
  show({ recording, opened }) {
    if (recording !== this.#recording) this.say(recording ? "Recording…" : "Stopped.");
    if (recording && !this.#recording) this.#begun = performance.now();
    this.#recording = recording;
    if (opened !== this.#opened) this.#place(0);
    this.#opened = opened;
    write(this.#record, recording ? "Stop" : "Record");
    this.#record.setAttribute("aria-pressed", String(recording));
    byId("banner").hidden = opened === null;
    write(byId("banner-name"), opened ?? "");
  }

  /** A second of what is shown. Where it falls back, the file was at its end: then its length is known. */
  update({ time_s }) {
    if (this.#opened === null) return;
    if (time_s < this.#position) this.#lengths.set(this.#opened, this.#position);
    this.#place(time_s);
  }

  #place(position) {
    this.#position = position;
    const length = this.#lengths.get(this.#opened);
    write(byId("banner-position"), clock(position) + (length === undefined ? "" : ` of ${clock(length)}`));
  }

  /** A recording is complete. */
  offer({ file, url }) {
    if (this.#begun) this.#lengths.set(file, (performance.now() - this.#begun) / 1000);
    const link = make("a", { href: url, download: file, text: `Download ${file}` });
    const watch = make("button", { type: "button", text: "Watch", on: { click: () => this.#watch(file, url) } });
    byId("recordings").prepend(make("li", {}, link, watch));
    while (byId("recordings").children.length > 5) byId("recordings").lastChild.remove();
    this.say("Complete.");
  }

  /** What was asked for cannot be. */
  refuse(why) {
    this.say(why, true);
  }

  say(text, refused = false) {
    write(this.#note, text);
    this.#note.classList.toggle("refused", refused);
  }

  async #open(input) {
    const [file] = input.files;
    input.value = "";
    if (!file) return;
    this.#lengths.delete(file.name);
    await this.#send(file.name, () => file);
  }

  async #watch(file, url) {
    await this.#send(file, async () => {
      const answer = await fetch(url);
      if (!answer.ok) throw new Error("it is not kept any more");
      return answer.blob();
    });
  }

  async #send(name, content) {
    this.say(`Sending ${name}…`);
    try {
      const headers = { "content-type": "application/octet-stream", "x-file-name": encodeURIComponent(name) };
      const answer = await fetch("/recordings", { method: "POST", body: await content(), headers });
      if (answer.ok) this.say(`Opened ${name}.`);
      else this.say((await answer.text()).slice(0, 300) || `The server said ${answer.status}.`, true);
    } catch (error) {
      this.say(`The file did not reach the server: ${error.message}.`, true);
    }
  }
}

/** Seconds as minutes and seconds. */
const clock = (s) => `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")}`;
