// What views are drawn of: the ground with its obstacles, crafts, shots. Lengths are in the game's unit, y points up.

import { craftColour, theme } from "./colours.js";

const LARGEST_GROUND = 4096;
const KINDS = ["solid", "frozen", "ghost", "wreck"];
const SMALLEST_CRAFT = 4.5;

/** Pixels of a canvas per pixel of the page: more than two cannot be told from two. */
export const density = () => Math.min(devicePixelRatio, 2);

/** Makes a canvas as large as it is shown. Until something is drawn, it is the bare ground. */
export function fit(canvas, context, { width, height }) {
  canvas.width = Math.max(1, Math.round(width * density()));
  canvas.height = Math.max(1, Math.round(height * density()));
  context.fillStyle = theme.ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
}

/** A rectangle of the arena on a canvas. */
export class Camera {
  x = 0;
  y = 0;
  scale = 1;
  width = 1;
  height = 1;

  /** Shows what is around a place; `scale` is in pixels per unit. */
  aim(x, y, scale, width, height) {
    Object.assign(this, { x, y, scale, width, height });
  }

  left(x) {
    return this.width / 2 + (x - this.x) * this.scale;
  }

  top(y) {
    return this.height / 2 - (y - this.y) * this.scale;
  }

  /** Whether something around a place is in the picture. */
  sees(x, y, margin) {
    const [left, top, edge] = [this.left(x), this.top(y), margin * this.scale];
    return left > -edge && top > -edge && left < this.width + edge && top < this.height + edge;
  }
}

/** Draws the ground. */
export function drawGround(context, camera, game) {
  context.fillStyle = theme.beyond;
  context.fillRect(0, 0, camera.width, camera.height);
  const rect = (x0, y0, x1, y1) => [camera.left(x0), camera.top(y1), (x1 - x0) * camera.scale, (y1 - y0) * camera.scale];
  const [w, h] = [game.half_width, game.half_height];
  context.fillStyle = theme.ground;
  context.fillRect(...rect(-w, -h, w, h));
  // From far away, fewer lines.
  const step = gridStep(game) * (gridStep(game) * camera.scale < 12 * density() ? 5 : 1);
  context.fillStyle = theme.grid;
  for (let x = -w + step; x < w; x += step) context.fillRect(Math.round(camera.left(x)), camera.top(h), 1, 2 * h * camera.scale);
  for (let y = -h + step; y < h; y += step) context.fillRect(camera.left(-w), Math.round(camera.top(y)), 2 * w * camera.scale, 1);
  context.strokeStyle = theme.wallEdge;
  context.lineWidth = 1;
  context.strokeRect(...rect(-w, -h, w, h));
  for (const [x0, y0, x1, y1] of game.obstacles) {
    context.fillStyle = theme.wall;
    context.fillRect(...rect(x0, y0, x1, y1));
    context.strokeRect(...rect(x0, y0, x1, y1));
  }
}

/** How far apart the lines of the grid are: about thirty of them, at a round number. */
export function gridStep(game) {
  const rough = (2 * game.half_width) / 30;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * (rough / power >= 5 ? 10 : rough / power >= 2 ? 5 : 1);
}

/** The ground, drawn once and then copied. */
export class Ground {
  #canvas = document.createElement("canvas");
  #camera = new Camera();
  #key = "";
  #game = null;

  /** Copies the part that a camera sees. */
  draw(context, camera, game) {
    const [width, height] = [2 * game.half_width * camera.scale + 2, 2 * game.half_height * camera.scale + 2];
    if (Math.max(width, height) > LARGEST_GROUND) {
      drawGround(context, camera, game);
      return;
    }
    this.#prepare(camera.scale, width, height, game);
    context.fillStyle = theme.beyond;
    context.fillRect(0, 0, camera.width, camera.height);
    context.drawImage(this.#canvas, Math.round(camera.left(-game.half_width) - 1), Math.round(camera.top(game.half_height) - 1));
  }

  #prepare(scale, width, height, game) {
    const key = `${scale} ${theme.version}`;
    if (key === this.#key && game === this.#game) return;
    Object.assign(this.#canvas, { width: Math.ceil(width), height: Math.ceil(height) });
    this.#camera.aim(0, 0, scale, width, height);
    drawGround(this.#canvas.getContext("2d"), this.#camera, game);
    this.#key = key;
    this.#game = game;
  }
}

/** Crafts, drawn once for every colour and then copied. */
export class Sprites {
  #made = new Map();
  #key = "";

  /** Draws a craft: `kind` is `solid`, `frozen`, `ghost` or `wreck`. */
  draw(context, camera, x, y, heading, look) {
    const size = Math.max(look.radius * camera.scale, SMALLEST_CRAFT * look.density);
    const sprite = this.#get(size, look);
    context.translate(camera.left(x), camera.top(y));
    context.rotate(-heading);
    context.drawImage(sprite, -sprite.width / 2, -sprite.height / 2);
    context.setTransform(1, 0, 0, 1, 0, 0);
  }

  #get(size, look) {
    const key = `${size} ${theme.version} ${look.shape}`;
    if (key !== this.#key) {
      this.#made.clear();
      this.#key = key;
    }
    const name = look.colour * KINDS.length + KINDS.indexOf(look.kind);
    let sprite = this.#made.get(name);
    if (!sprite) this.#made.set(name, (sprite = paint(size, look)));
    return sprite;
  }
}

function paint(size, { shape, kind, colour, density: pixel }) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = Math.ceil(size * 3.2);
  const context = canvas.getContext("2d");
  context.translate(canvas.width / 2, canvas.height / 2);
  context.scale(size, size);
  context.lineWidth = (1.4 * pixel) / size;
  context.lineJoin = "round";
  context.strokeStyle = context.fillStyle = craftColour(colour);
  const outline = shape === "ships" ? shipOutline() : tankOutline();
  if (kind === "ghost") paintGhost(context, outline, pixel / size);
  else if (kind === "wreck") paintWreck(context, outline);
  else paintSolid(context, outline, shape, kind === "frozen");
  return canvas;
}

function paintGhost(context, outline, pixel) {
  context.globalAlpha = 0.14;
  context.fill(outline);
  context.globalAlpha = 0.95;
  context.setLineDash([3 * pixel, 2 * pixel]);
  context.stroke(outline);
}

function paintWreck(context, outline) {
  context.fillStyle = context.strokeStyle = theme.quiet;
  context.globalAlpha = 0.6;
  context.fill(outline);
  context.globalAlpha = 1;
  context.lineWidth = 0.22;
  context.stroke(new Path2D("M-0.9 -0.9 L0.9 0.9 M-0.9 0.9 L0.9 -0.9"));
}

function paintSolid(context, outline, shape, frozen) {
  context.globalAlpha = frozen ? 0.45 : 1;
  context.fill(outline);
  if (shape === "ships") return;
  context.fillStyle = theme.hull;
  context.globalAlpha *= 0.35;
  for (const side of [-0.62, 0.62]) context.fillRect(-0.85, side - 0.1, 1.7, 0.2);
  context.globalAlpha = frozen ? 0.5 : 1;
  context.beginPath();
  context.arc(-0.1, 0, 0.36, 0, 2 * Math.PI);
  context.fill();
  context.fillRect(0, -0.09, 1.15, 0.18);
}

function tankOutline() {
  const path = new Path2D();
  path.roundRect(-1, -0.78, 2, 1.56, 0.25);
  path.rect(0.98, -0.12, 0.4, 0.24);
  return path;
}

function shipOutline() {
  return new Path2D("M1.2 0 L-0.9 0.8 L-0.5 0 L-0.9 -0.8 Z");
}
