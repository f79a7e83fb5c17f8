// Colours that colour-blind people can tell apart (after Okabe and Ito), for light and for dark.

const LIGHT = {
  crafts: ["#0072b2", "#c07f00", "#00805d", "#b0508a", "#c24e00", "#2f8fc8", "#7a6a00", "#5b5f66"],
  person: "#c2123f",
  left: "#c24e00",
  right: "#0068a8",
  ground: "#e8ecf0",
  beyond: "#cfd6dd",
  grid: "#d7dde3",
  wall: "#8795a3",
  wallEdge: "#66737f",
  ink: "#17202b",
  quiet: "#5a6775",
  gap: "#17202b",
  shot: "#17202b",
  axis: "#c9d1d9",
  hull: "#ffffff",
};

const DARK = {
  crafts: ["#5ab4ef", "#f0b429", "#2fc799", "#e79ac6", "#ff8a47", "#9ad5f7", "#e6dc5a", "#aab4bf"],
  person: "#ff5d7d",
  left: "#ff9155",
  right: "#5ab4ef",
  ground: "#202b37",
  beyond: "#0f151c",
  grid: "#2d3a48",
  wall: "#586879",
  wallEdge: "#6f8092",
  ink: "#e8edf3",
  quiet: "#9aa7b5",
  gap: "#ffffff",
  shot: "#fff3c4",
  axis: "#33404d",
  hull: "#0f151c",
};

/** Dashes of the receivers' lines: distinguishable without colour. */
export const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 4], [12, 4], [4, 2, 1, 2]];

const dark = matchMedia("(prefers-color-scheme: dark)");

/** The colours at present. `version` grows with every change of them. */
export const theme = { version: 0, ...(dark.matches ? DARK : LIGHT) };

dark.addEventListener("change", () => {
  Object.assign(theme, dark.matches ? DARK : LIGHT);
  theme.version += 1;
});

/** The number of the colour that people have, and bots have not. */
export const PERSON = -1;

/** The number of a craft's colour. */
export const colourOf = ({ human, colour }) => (human ? PERSON : colour);

/** The colour of a craft or a receiver by number. */
export const craftColour = (index) => (index === PERSON ? theme.person : theme.crafts[index % theme.crafts.length]);

/** The colour of a world. */
export const worldColour = (world) => (world === 0 ? theme.left : theme.right);

/** What the worlds are called in settings and in handles. */
export const WORLDS = ["left", "right"];

/** What they are called on the page: one is above the other there. */
export const TITLES = ["A", "B"];
