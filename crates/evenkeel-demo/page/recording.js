// Keeping a run, and looking at one that was kept.

import { byId, make, write } from "./dom.js";

/** The recording's buttons, links and banner. `command(object)` sends. */
export class Recording {
  #record = byId("record");
  #note = byId("recording-note");
  #recording = false;

  constructor(command) {
    this.#record.addEventListener("click", () => command({ do: this.#recording ? "stop-recording" : "record" }));
    byId("recording-close").addEventListener("click", () => command({ do: "close-recording" }));
    byId("recording-file").addEventListener("change", (event) => this.#open(event.target));
  }

  /** Shows whether something is recorded or looked at. */
  show({ recording, opened }) {
    if (recording !== this.#recording) this.say(recording ? "Recording…" : "Stopped.");
    this.#recording = recording;
    write(this.#record, recording ? "Stop" : "Record");
    this.#record.setAttribute("aria-pressed", String(recording));
    byId("banner").hidden = opened === null;
    write(byId("banner-name"), opened ?? "");
  }

  /** A recording is complete. */
  offer({ file, url }) {
    const link = make("a", { href: url, download: file, text: `Download ${file}` });
    byId("recordings").prepend(make("li", {}, link));
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
    this.say(`Sending ${file.name}…`);
    try {
      const headers = { "content-type": "application/octet-stream", "x-file-name": encodeURIComponent(file.name) };
      const answer = await fetch("/recordings", { method: "POST", body: file, headers });
      if (answer.ok) this.say(`Opened ${file.name}.`);
      else this.say((await answer.text()).slice(0, 300) || `The server said ${answer.status}.`, true);
    } catch {
      this.say("The file did not reach the server.", true);
    }
  }
}
