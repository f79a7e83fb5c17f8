// What tests ask of the page. These run inside of it: nothing but `evenkeelPage` and the document.

/** Where a craft really is and where every view of the left world shows it: index of the craft, [[x, y, flags], …]. */
export const marksOf = (name) => {
  const { state, film } = globalThis.evenkeelPage;
  const craft = state.crafts.findIndex((one) => one.name === name);
  const frame = film.frames[0];
  if (craft < 0 || frame.crafts !== state.crafts.length) return null;
  const mark = (at) => [frame.marks[at], frame.marks[at + 1], frame.marks[at + 3]];
  const views = Array.from({ length: frame.views }, (_, view) => mark(frame.shown(0, view, craft)));
  return { craft, truth: mark(craft * 4), views };
};

/** Where all crafts are. */
export const truth = () => {
  const { state, film } = globalThis.evenkeelPage;
  const frame = film.frames[0];
  return state ? Array.from({ length: frame.crafts }, (_, craft) => [frame.marks[craft * 4], frame.marks[craft * 4 + 1]]) : [];
};

/** How far apart the two lists of places are, at most. */
export const furthest = (a, b) => Math.max(0, ...a.map(([x, y], i) => (b[i] ? Math.hypot(x - b[i][0], y - b[i][1]) : 0)));
