// Pictures of the moment: reading them, and what is in between two of them.

/** Numbers per mark: x, y, heading, flags. */
export const MARK = 4;
/** Flags of a mark. */
export const [SHOWN, FROZEN, OWN] = [1, 2, 4];

const HEAD = 14;
const COUNTS = 50;
const NONE = 255;

/** A picture. Its arrays are used again for the next one. */
export class Frame {
  generation = -1;
  worlds = 0;
  views = 0;
  crafts = 0;
  shots = 0;
  time = 0;
  marks = new Float32Array(0);
  shotMarks = new Float32Array(255 * 3);

  /** Where the mark begins of what a view shows of a craft. The truth of craft `c` begins at `c * MARK`. */
  shown(world, view, craft) {
    return (this.crafts + (world * this.views + view) * this.crafts + craft) * MARK;
  }

  /** Reads what the server sent. False if it is not a picture. */
  read(buffer) {
    const data = new DataView(buffer);
    if (data.byteLength < HEAD || data.getUint8(0) !== 1) return false;
    const [worlds, views, crafts, shots] = [2, 3, 4, 5].map((at) => data.getUint8(at));
    const marks = crafts * (1 + worlds * views);
    if (data.byteLength !== HEAD + marks * 7 + shots * 5) return false;
    Object.assign(this, { generation: data.getUint8(1), worlds, views, crafts, shots });
    this.time = data.getFloat64(6, true);
    this.reserve(marks);
    this.readMarks(data, marks);
    return true;
  }

  readMarks(data, marks) {
    let at = HEAD;
    for (let i = 0; i < marks * MARK; i += MARK, at += 7) {
      this.marks[i] = data.getInt16(at, true) / COUNTS;
      this.marks[i + 1] = data.getInt16(at + 2, true) / COUNTS;
      this.marks[i + 2] = (data.getInt16(at + 4, true) / 32768) * Math.PI;
      this.marks[i + 3] = data.getUint8(at + 6);
    }
    for (let i = 0; i < this.shots * 3; i += 3, at += 5) {
      this.shotMarks[i] = data.getInt16(at, true) / COUNTS;
      this.shotMarks[i + 1] = data.getInt16(at + 2, true) / COUNTS;
      const shooter = data.getUint8(at + 4);
      this.shotMarks[i + 2] = shooter === NONE ? -1 : shooter;
    }
  }

  reserve(marks) {
    if (this.marks.length < marks * MARK) this.marks = new Float32Array(marks * MARK);
  }

  /** Whether both are of the same crafts and views. */
  matches(other) {
    return (
      this.generation === other.generation &&
      this.worlds === other.worlds &&
      this.views === other.views &&
      this.crafts === other.crafts
    );
  }

  /** Becomes what is in between: `share` 0 is `a`, 1 is `b`. What moved further than `leap` did not drive there. */
  between(a, b, share, leap) {
    const { generation, worlds, views, crafts } = b;
    Object.assign(this, { generation, worlds, views, crafts });
    this.time = a.time + (b.time - a.time) * share;
    const marks = crafts * (1 + worlds * views);
    this.reserve(marks);
    for (let i = 0; i < marks * MARK; i += MARK) blend(this.marks, a.marks, b.marks, i, share, leap);
    this.moveShots(a, b, share, leap);
  }

  // Shots have no names: those at the same place in the list are the same if they are near and of one shooter.
  moveShots(a, b, share, leap) {
    this.shots = b.shots;
    for (let i = 0; i < b.shots * 3; i += 3) {
      const [from, to] = [a.shotMarks, b.shotMarks];
      const near =
        i < a.shots * 3 && from[i + 2] === to[i + 2] && Math.abs(from[i] - to[i]) + Math.abs(from[i + 1] - to[i + 1]) < leap;
      this.shotMarks[i] = near ? from[i] + (to[i] - from[i]) * share : to[i];
      this.shotMarks[i + 1] = near ? from[i + 1] + (to[i + 1] - from[i + 1]) * share : to[i + 1];
      this.shotMarks[i + 2] = to[i + 2];
    }
  }
}

function blend(into, a, b, i, share, leap) {
  const [dx, dy] = [b[i] - a[i], b[i + 1] - a[i + 1]];
  const part = Math.abs(dx) + Math.abs(dy) > leap || ((a[i + 3] ^ b[i + 3]) & SHOWN) !== 0 ? 1 : share;
  into[i] = a[i] + dx * part;
  into[i + 1] = a[i + 1] + dy * part;
  let turn = b[i + 2] - a[i + 2];
  if (turn > Math.PI) turn -= 2 * Math.PI;
  else if (turn < -Math.PI) turn += 2 * Math.PI;
  into[i + 2] = a[i + 2] + turn * part;
  into[i + 3] = b[i + 3];
}

/** The newest pictures, and a playhead that runs evenly a little behind them. */
export class Film {
  frames = [new Frame(), new Frame(), new Frame(), new Frame()];
  picture = new Frame();
  count = 0;
  interval = 1 / 30;
  playhead = 0;
  asked = 0;

  /** Takes a picture in. False if it is none. */
  add(buffer) {
    const frame = this.frames.pop();
    this.frames.unshift(frame);
    const before = this.frames[1];
    if (!frame.read(buffer)) {
      this.clear();
      return false;
    }
    const step = frame.time - before.time;
    const follows = this.count > 0 && frame.matches(before) && step > 0 && step < 2;
    this.count = follows ? Math.min(this.count + 1, this.frames.length) : 1;
    if (follows) this.interval += (step - this.interval) * 0.05;
    // Arrivals jitter; the playhead follows them slowly.
    const target = frame.time - this.interval * 1.4;
    const off = target - this.playhead;
    this.playhead = !follows || Math.abs(off) > 0.4 ? target : this.playhead + off * 0.1;
    return true;
  }

  clear() {
    this.count = 0;
  }

  /** The picture to draw now, or null. `now` in seconds. */
  at(now, leap) {
    const passed = Math.min(now - this.asked, 0.25);
    this.asked = now;
    if (this.count === 0) return null;
    this.playhead += passed;
    let newer = 0;
    while (newer + 2 < this.count && this.frames[newer + 1].time > this.playhead) newer += 1;
    const b = this.frames[newer];
    const a = this.frames[Math.min(newer + 1, this.count - 1)];
    const length = b.time - a.time;
    const share = length > 0 ? Math.min(Math.max((this.playhead - a.time) / length, 0), 1) : 1;
    this.picture.between(a, b, share, leap);
    return this.picture;
  }
}
