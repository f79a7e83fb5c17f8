// The receivers' pictures: a figure for each, with a canvas for each world.

import { colourOf, theme, TITLES, WORLDS, worldColour } from "./colours.js";
import { byId, make, measure, write } from "./dom.js";
import { FROZEN, MARK, OWN, SHOWN } from "./frame.js";
import { Camera, density, fit, gridStep, Ground, Sprites } from "./scene.js";

const FOLLOWED_SHARE = 0.26;
const LABELS_PER_SECOND = 4;

/** One receiver in one world. */
class Pane {
  width = 1;
  height = 1;
  error = null;
  near = null;
  subject = -1;
  out = false;
  centre = { x: 0, y: 0, of: -1 };

  constructor(world, view, watch) {
    this.world = world;
    this.view = view;
    this.canvas = make("canvas", { role: "img", "data-test": `view-${WORLDS[world]}-${view}` });
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.tag = make("span", { class: `tag ${WORLDS[world]}` });
    [this.large, this.small] = [make("b"), make("small")];
    const figure = make("span", { class: "error", "data-test": `error-${WORLDS[world]}-${view}` }, this.large, this.small);
    this.note = make("span", { class: "out" });
    this.element = make("div", { class: "pane" }, this.canvas, this.tag, figure, this.note);
    watch(this);
  }
}

/** All of them. */
export class Views {
  panes = [];
  still = false;
  #root = byId("views");
  #follow = byId("follow");
  #key = "";
  #camera = new Camera();
  #ground = new Ground();
  #sprites = new Sprites();
  #look = { radius: 3, shape: "tanks", kind: "solid", colour: 0, density: 1 };
  #drawn = 0;
  #labelled = 0;
  #worst = 1;
  #sizes = new ResizeObserver((entries) => entries.forEach(resize));

  /** Takes over what there is to see. */
  update(state) {
    const worlds = state.settings.right ? 2 : 1;
    const key = JSON.stringify([worlds, state.views.map((view) => view.name)]);
    if (key !== this.#key) this.#build(state, worlds);
    this.#key = key;
    this.#offer(state.crafts);
    for (const pane of this.panes) {
      const world = WORLDS[pane.world];
      const view = state.views[pane.view];
      write(pane.tag, `${TITLES[pane.world]} · ${state.settings[world].policy}`);
      pane.canvas.setAttribute("aria-label", `${TITLES[pane.world]}: what ${view.name} shows, by the policy ${state.settings[world].policy}`);
      write(pane.delay, view.name === `${view.delay_ms} ms` ? "away" : `${view.delay_ms} ms away`);
    }
  }

  #build(state, worlds) {
    this.#sizes.disconnect();
    this.panes = [];
    const watch = (pane) => {
      this.panes.push(pane);
      pane.canvas.pane = pane;
      this.#sizes.observe(pane.canvas);
    };
    const figures = state.views.map((view, index) => {
      const delay = make("span", { class: "quiet" });
      const panes = Array.from({ length: worlds }, (_, world) => new Pane(world, index, watch));
      for (const pane of panes) pane.delay = delay;
      const caption = make("figcaption", {}, make("b", { text: view.name }), " ", delay);
      return make(
        "figure",
        { class: "receiver", "data-test": `receiver-${index}` },
        caption,
        ...panes.map((pane) => pane.element),
      );
    });
    const columns = state.views.length > 4 ? 4 : Math.max(state.views.length, 1);
    this.#root.style.setProperty("--columns", columns);
    this.#root.replaceChildren(...figures);
  }

  #offer(crafts) {
    const offered = ["", ...crafts.map((craft) => craft.name)];
    const options = [...this.#follow.options].map((option) => option.value);
    if (offered.join("\n") === options.join("\n")) return;
    const kept = options.length ? this.#follow.value : offered[1];
    this.#follow.replaceChildren(
      ...offered.map((name) => make("option", { value: name, text: name ? `near ${name}` : "whole arena" })),
    );
    this.#follow.value = offered.includes(kept) ? kept : (offered[1] ?? "");
  }

  /** Draws a picture. `now` in seconds. */
  draw(picture, state, game, now) {
    if (this.still && now - this.#drawn < 0.5) return;
    const passed = Math.min(now - this.#drawn, 1);
    this.#drawn = now;
    const followed = state.crafts.findIndex((craft) => craft.name === this.#follow.value);
    this.#look.shape = state.settings.game;
    this.#look.radius = game.radius;
    let worst = 0;
    for (const pane of this.panes) {
      if (pane.world >= picture.worlds) continue;
      this.#aim(pane, picture, followed, state.crafts, game);
      this.#paint(pane, picture, state, game);
      this.#judge(pane, picture, state.crafts, passed);
      worst = Math.max(worst, pane.error ?? 0);
    }
    // The bars' scale grows at once and shrinks slowly.
    const scale = Math.max(worst, game.radius / 3);
    this.#worst = Math.max(scale, this.#worst + (scale - this.#worst) * Math.min(passed / 2, 1));
    if (now - this.#labelled > 1 / LABELS_PER_SECOND) this.#label(state.crafts, game, now);
  }

  #aim(pane, picture, followed, crafts, game) {
    const { width, height, centre } = pane;
    if (followed < 0) {
      [pane.subject, pane.out] = [-1, false];
      const scale = Math.min(width / (2 * game.half_width), height / (2 * game.half_height)) * 0.98;
      this.#camera.aim(0, 0, scale, width, height);
      return;
    }
    const subject = this.#followable(pane, picture, followed);
    if (subject !== pane.subject) pane.near = null;
    pane.subject = subject;
    // Who is out was last seen there: that is where to look, until it comes back elsewhere.
    pane.out = !inGame(picture, subject);
    const looked = pane.out && centre.of === crafts[subject].id ? -1 : nextInGame(picture, subject);
    if (looked >= 0) {
      const at = looked * MARK;
      Object.assign(centre, { x: picture.marks[at], y: picture.marks[at + 1], of: crafts[looked].id });
    }
    this.#camera.aim(centre.x, centre.y, width / (2 * game.half_width * FOLLOWED_SHARE), width, height);
  }

  // A view's own craft is where it is: there, the next one is looked at.
  #followable({ world, view }, picture, followed) {
    const own = (picture.marks[picture.shown(world, view, followed) + 3] & OWN) !== 0;
    return own ? (followed + 1) % picture.crafts : followed;
  }

  #paint(pane, picture, state, game) {
    const { context } = pane;
    const camera = this.#camera;
    this.#look.density = density();
    this.#ground.draw(context, camera, game);
    this.#scaleBar(context, game);
    for (let craft = 0; craft < picture.crafts; craft += 1) {
      this.#craft(context, picture, craft * MARK, picture.shown(pane.world, pane.view, craft), state.crafts[craft]);
    }
    context.fillStyle = theme.shot;
    const size = Math.max(0.5 * game.radius * camera.scale * 0.3, 2 * density());
    for (let i = 0; i < picture.shots * 3; i += 3) {
      context.beginPath();
      context.arc(camera.left(picture.shotMarks[i]), camera.top(picture.shotMarks[i + 1]), size, 0, 2 * Math.PI);
      context.fill();
    }
    this.#errorBar(pane);
  }

  #craft(context, { marks }, truth, shown, info) {
    const camera = this.#camera;
    const look = this.#look;
    const margin = look.radius * 2;
    const real = (marks[truth + 3] & SHOWN) !== 0;
    const there = (marks[shown + 3] & SHOWN) !== 0;
    look.colour = colourOf(info);
    if (real && camera.sees(marks[truth], marks[truth + 1], margin)) {
      look.kind = "ghost";
      this.#sprites.draw(context, camera, marks[truth], marks[truth + 1], marks[truth + 2], look);
    }
    if (!there) return;
    if (camera.sees(marks[shown], marks[shown + 1], margin)) {
      look.kind = marks[shown + 3] & FROZEN ? "frozen" : "solid";
      this.#sprites.draw(context, camera, marks[shown], marks[shown + 1], marks[shown + 2], look);
      this.#name(context, marks[shown], marks[shown + 1], info.name, (marks[shown + 3] & OWN) !== 0);
    }
    if (real) this.#line(context, marks, truth, shown);
  }

  #line(context, marks, truth, shown) {
    const camera = this.#camera;
    context.strokeStyle = theme.gap;
    context.lineWidth = density();
    context.beginPath();
    context.moveTo(camera.left(marks[truth]), camera.top(marks[truth + 1]));
    context.lineTo(camera.left(marks[shown]), camera.top(marks[shown + 1]));
    context.stroke();
  }

  #name(context, x, y, name, own) {
    const camera = this.#camera;
    if (camera.scale * this.#look.radius < 8 * density()) return;
    context.font = `${own ? "700 " : ""}${10 * density()}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.fillStyle = theme.ink;
    context.fillText(own ? `${name} (own)` : name, camera.left(x), camera.top(y) - this.#look.radius * camera.scale * 1.35);
  }

  #scaleBar(context, game) {
    const camera = this.#camera;
    const pixel = density();
    const length = gridStep(game);
    if (length * camera.scale < 24 * pixel) return;
    const [left, top] = [camera.width - length * camera.scale - 8 * pixel, camera.height - 12 * pixel];
    context.fillStyle = theme.quiet;
    context.fillRect(left, top, length * camera.scale, pixel);
    context.font = `${9.5 * pixel}px system-ui, sans-serif`;
    context.textAlign = "right";
    context.fillText(`${length} ${game.unit}`, camera.width - 8 * pixel, top - 3 * pixel);
  }

  // How long it is says, across all views, who is worse off.
  #errorBar({ context, width, height, error, world }) {
    if (error === null) return;
    const thick = 4 * density();
    context.fillStyle = worldColour(world);
    context.fillRect(0, height - thick, Math.min((width * error) / this.#worst, width), thick);
  }

  /**
   * The distance between what is and what is shown, of the craft that is looked at, and the mean of all over the last half second or
   * so. Where people are is known from what they say only: like the server's numbers, the mean leaves them out.
   */
  #judge(pane, picture, crafts, passed) {
    let [sum, count, near] = [0, 0, null];
    for (let craft = 0; craft < picture.crafts; craft += 1) {
      const off = distance(picture, craft, picture.shown(pane.world, pane.view, craft));
      if (off === null) continue;
      if (craft === pane.subject) near = off;
      if (crafts[craft].human) continue;
      sum += off;
      count += 1;
    }
    // The one is to be read beside what is seen at the same moment.
    pane.near = near === null ? null : smooth(pane.near, near, Math.min(passed * 8, 1));
    if (count > 0) pane.error = smooth(pane.error, sum / count, Math.min(passed * 2, 1));
  }

  #label(crafts, game, now) {
    this.#labelled = now;
    for (const { error, near, subject, out, large, small, note } of this.panes) {
      const all = error === null ? "" : measure(error, game.unit);
      write(large, subject < 0 ? all : near === null ? "–" : measure(near, game.unit));
      write(small, subject < 0 || !all ? "" : `all: ${all}`);
      write(note, out ? `${crafts[subject]?.name} is out, back soon` : "");
    }
  }
}

const inGame = ({ marks }, craft) => (marks[craft * MARK + 3] & SHOWN) !== 0;

/** The first craft in the game from this one on, or -1. */
function nextInGame(picture, craft) {
  for (let i = 0; i < picture.crafts; i += 1) {
    const next = (craft + i) % picture.crafts;
    if (inGame(picture, next)) return next;
  }
  return -1;
}

/** How far from where a craft is the mark at `shown` is, or null if there is nothing to compare. */
function distance(picture, craft, shown) {
  const { marks } = picture;
  if (!inGame(picture, craft) || !(marks[shown + 3] & SHOWN) || marks[shown + 3] & OWN) return null;
  return Math.hypot(marks[craft * MARK] - marks[shown], marks[craft * MARK + 1] - marks[shown + 1]);
}

const smooth = (before, now, share) => (before === null ? now : before + (now - before) * share);

function resize({ target, contentRect }) {
  const { pane } = target;
  fit(target, pane.context, contentRect);
  [pane.width, pane.height] = [target.width, target.height];
}
