// How long the page's work for a frame takes.

const KEPT = 600;

/** Keeps the last durations, in milliseconds. */
export class Meter {
  #work = new Float32Array(KEPT);
  #steps = new Float32Array(KEPT);
  #count = 0;
  #before = 0;

  /** Takes in one frame's work, from `start` to `end`. */
  add(start, end) {
    const at = this.#count % KEPT;
    this.#work[at] = end - start;
    this.#steps[at] = this.#before ? start - this.#before : 0;
    this.#before = start;
    this.#count += 1;
  }

  /** Median and 99th percentile of the work per frame, and the frames per second. */
  read() {
    const kept = Math.min(this.#count, KEPT);
    const work = this.#work.slice(0, kept).sort();
    const steps = this.#steps.slice(0, kept).sort();
    const at = (sorted, share) => (kept ? sorted[Math.min(kept - 1, Math.floor(kept * share))] : 0);
    const step = at(steps, 0.5);
    return { count: this.#count, median: at(work, 0.5), p99: at(work, 0.99), fps: step > 0 ? 1000 / step : 0 };
  }
}
