// A player's own picture: the own tank in the middle, everybody else around it.

import { theme } from "./colours.js";
import { Camera, density, drawGround, fit, Sprites } from "./scene.js";

const WIDTH_SHARE = 0.34;
const [HOST, X, Y, HEADING, , STUCK] = [0, 1, 2, 3, 4, 5];

/** Draws frames of the player's worker. */
export class PlayView {
  #canvas;
  #context;
  #camera = new Camera();
  #sprites = new Sprites();
  #look = { radius: 3, shape: "tanks", kind: "solid", colour: 0, density: 1 };
  #centre = { x: 0, y: 0 };
  #sizes;

  constructor(canvas) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false });
    this.#sizes = new ResizeObserver(([{ contentRect }]) => fit(canvas, this.#context, contentRect));
    this.#sizes.observe(canvas);
  }

  stop() {
    this.#sizes.disconnect();
  }

  /** Draws. `colour(host)` is the number of a player's colour. */
  draw(frame, game, shape, colour) {
    const { width, height } = this.#canvas;
    if (frame.own) Object.assign(this.#centre, { x: frame.own.x, y: frame.own.y });
    const scale = Math.max(width, height) / (2 * game.half_width * WIDTH_SHARE);
    this.#camera.aim(this.#centre.x, this.#centre.y, scale, width, height);
    Object.assign(this.#look, { radius: game.radius, shape, density: density() });
    drawGround(this.#context, this.#camera, game);
    this.#drawOthers(frame, colour);
    this.#drawShots(frame, game);
    if (frame.beams) this.#drawBeams(frame);
    if (frame.own) this.#drawOwn(frame, colour);
  }

  #drawOthers({ others, names }, colour) {
    for (let i = 0; i + STUCK < others.length; i += 6) {
      const host = others[i + HOST];
      if (!this.#camera.sees(others[i + X], others[i + Y], this.#look.radius * 2)) continue;
      this.#look.kind = others[i + STUCK] ? "frozen" : "solid";
      this.#look.colour = colour(host);
      this.#sprites.draw(this.#context, this.#camera, others[i + X], others[i + Y], others[i + HEADING], this.#look);
      this.#name(others[i + X], others[i + Y], names[host] ?? `player ${host}`);
    }
  }

  #drawShots({ shots }, game) {
    this.#context.fillStyle = theme.shot;
    const size = Math.max(game.radius * this.#camera.scale * 0.15, 2.5 * density());
    for (let i = 0; i + 2 < shots.length; i += 3) {
      this.#context.beginPath();
      this.#context.arc(this.#camera.left(shots[i]), this.#camera.top(shots[i + 1]), size, 0, 2 * Math.PI);
      this.#context.fill();
    }
  }

  #drawBeams({ beams }) {
    const context = this.#context;
    context.strokeStyle = theme.shot;
    context.lineWidth = 2 * density();
    for (let i = 0; i + 4 < beams.length; i += 5) {
      context.beginPath();
      context.moveTo(this.#camera.left(beams[i]), this.#camera.top(beams[i + 1]));
      context.lineTo(this.#camera.left(beams[i + 2]), this.#camera.top(beams[i + 3]));
      context.stroke();
    }
  }

  #drawOwn({ own, you }, colour) {
    this.#look.kind = own.alive ? "solid" : "wreck";
    this.#look.colour = colour(you);
    const context = this.#context;
    const radius = this.#look.radius * this.#camera.scale * 1.8;
    context.strokeStyle = theme.ink;
    context.globalAlpha = 0.35;
    context.lineWidth = 1.5 * density();
    context.beginPath();
    context.arc(this.#camera.width / 2, this.#camera.height / 2, radius, 0, 2 * Math.PI);
    context.stroke();
    context.globalAlpha = 1;
    this.#sprites.draw(context, this.#camera, own.x, own.y, own.heading, this.#look);
  }

  #name(x, y, name) {
    const context = this.#context;
    context.font = `${12 * density()}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.fillStyle = theme.ink;
    context.fillText(name, this.#camera.left(x), this.#camera.top(y) - this.#look.radius * this.#camera.scale * 1.35);
  }
}
