// The six steps of the guided tour: what is set, what to look at, and which numbers say it.

const COMMON = {
  crowd: "papers",
  game: "tanks",
  lag: { movement_ms: 0, verdicts_ms: 0 },
  threshold: { distance: 0.5, degrees: 3 },
};
const world = (policy) => ({ policy, budget: "1/3" });

const WORTH = { mean: (w) => w.mean, std: (w) => w.std, ratio: (w) => worstToBest(w.receivers) };

/** A number of a world; `was` is the world it is compared with in the step before. */
const figure = (key, of, name, was = null) => ({ key, world: of, name, was });

/** A number of a second, or null. */
export const value = (key, second, of) => (second.worlds[of] ? WORTH[key](second.worlds[of]) : null);

/** All numbers of a second, by key and world. */
export function allOf(second) {
  const entries = Object.keys(WORTH).flatMap((key) => [0, 1].map((of) => [`${key} ${of}`, value(key, second, of)]));
  return Object.fromEntries(entries.filter(([, number]) => number !== null));
}

function worstToBest(receivers) {
  const errors = receivers.map((receiver) => receiver.window).filter((error) => error !== null);
  return errors.length > 1 ? Math.max(...errors) / Math.max(Math.min(...errors), 1e-3) : null;
}

/** The steps in their order. */
export const STEPS = [
  {
    title: "Dead reckoning as games do it today",
    set: { ...COMMON, clock: "local", left: world("base"), right: null },
    text: "A receiver moves each tank on from the moment its last message arrived. But the message was under way all that time: tanks are drawn where they were.",
    look: "Every solid tank trails its ghost, the more the farther away the receiver is.",
    numbers: [figure("mean", 0, "mean error"), figure("std", 0, "standard deviation")],
  },
  {
    title: "One clock for everybody",
    set: { ...COMMON, clock: "global", left: world("base"), right: null },
    text: "Now every message says when it was true, by a clock that all share. Not a single message more is sent.",
    look: "The solid tanks jump forward onto their ghosts, and leave them only while news of a turn is under way.",
    numbers: [figure("mean", 0, "mean error", 0), figure("std", 0, "standard deviation", 0)],
  },
  {
    title: "Better, but not fair",
    set: { ...COMMON, clock: "global", left: world("base"), right: null },
    text: "Everybody gets every message. Still who lives far away is worse off: news of a turn reaches it later.",
    look: "Compare the bars at the bottom of the three views: nothing about the players differs but where they live.",
    numbers: [figure("ratio", 0, "worst : best receiver"), figure("std", 0, "standard deviation")],
  },
  {
    title: "Fair by waiting",
    set: { ...COMMON, clock: "global", left: world("base"), right: world("schedule-drop") },
    text: "The sender can hold messages to near receivers back until all errors are equal. That is fair, and it has a price: nobody gets better, the near ones get worse.",
    look: "The lines of the right world lie closer together, but higher.",
    numbers: [figure("std", 1, "standard deviation, right", 0), figure("mean", 1, "mean error, right", 0)],
  },
  {
    title: "Fair within a budget",
    set: { ...COMMON, clock: "global", left: world("base/3"), right: world("credits") },
    text: "Only a third of the messages may be sent. On the left everybody gets every third; on the right receivers take turns, those more often who have suffered more.",
    look: "The same number of messages on both sides; on the right the errors of the three are closer together.",
    numbers: [figure("std", 0, "standard deviation, left"), figure("std", 1, "standard deviation, right")],
  },
  {
    title: "Even: accurate and fair",
    set: { ...COMMON, clock: "global", left: world("base/3"), right: world("even") },
    text: "Evenkeel's own policy tells whoever gains most by it, weighted by what it has suffered so far. The budget is the same third.",
    look: "Left against right, in the same seconds: smaller errors, and the same for everybody.",
    numbers: [
      figure("mean", 0, "mean, left"),
      figure("mean", 1, "mean, right", 1),
      figure("std", 0, "std, left"),
      figure("std", 1, "std, right", 1),
    ],
  },
];
