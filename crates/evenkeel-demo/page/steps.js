// The six steps of the guided tour: what is set, what to look at, and which numbers say it.

import { TITLES } from "./colours.js";

const COMMON = {
  crowd: "papers",
  game: "tanks",
  lag: { movement_ms: 0, verdicts_ms: 0 },
  threshold: { distance: 0.5, degrees: 3 },
};
const world = (policy) => ({ policy, budget: "1/3" });

const WORTH = {
  mean: (w) => w.mean,
  std: (w) => w.std,
  ratio: (w) => worstToBest(w.receivers),
  rate: (w) => w.rate.vectors,
};

/** A number of a world; `was` is the world it is compared with in the step before. */
const figure = (key, of, name, was = null) => ({ key, world: of, name, was });

const NAMES = { mean: "mean error", std: "standard deviation", rate: "messages/s" };

/** The same numbers of both worlds, first all of A. */
const pairOf = (...keys) => [0, 1].flatMap((of) => keys.map((key) => figure(key, of, `${TITLES[of]}: ${NAMES[key]}`)));

/** A number of a second, or null: also while a receiver has seen nothing yet. */
export function value(key, second, of) {
  const it = second.worlds[of];
  return it?.receivers.every((receiver) => receiver.window > 0) ? WORTH[key](it) : null;
}

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
    numbers: [figure("mean", 0, NAMES.mean), figure("std", 0, NAMES.std)],
  },
  {
    title: "One clock for everybody",
    set: { ...COMMON, clock: "global", left: world("base"), right: null },
    text: "Now every message says when it was true, by a clock that all share. Not a single message more is sent.",
    look: "The solid tanks jump forward onto their ghosts, and leave them only while news of a turn is under way.",
    numbers: [figure("mean", 0, NAMES.mean, 0), figure("std", 0, NAMES.std, 0)],
  },
  {
    title: "Better, but not fair",
    set: { ...COMMON, clock: "global", left: world("base"), right: null },
    text: "Everybody gets every message. Still who lives far away is worse off: news of a turn reaches it later.",
    look: "Compare the bars at the bottom of the three views: nothing about the players differs but where they live.",
    numbers: [figure("ratio", 0, "worst : best receiver"), figure("std", 0, NAMES.std)],
  },
  {
    title: "Fair by waiting",
    set: { ...COMMON, clock: "global", left: world("base"), right: world("schedule-drop") },
    text: "In world B, below, the sender holds messages to near receivers back until all errors are equal, or drops them. That is fairer, at a price: everybody gets worse.",
    look: "The bars at the bottom of B's views are more alike than A's, but longer.",
    numbers: pairOf("std", "mean"),
  },
  {
    title: "Fair within a budget",
    set: { ...COMMON, clock: "global", left: world("base/3"), right: world("credits") },
    text: "Only a third of the messages may be sent. In A everybody gets every third; in B receivers take turns, those more often who have suffered more.",
    look: "As many messages in A as in B, but B's three bars are more alike.",
    numbers: pairOf("std", "rate"),
  },
  {
    title: "Even: accurate and fair",
    set: { ...COMMON, clock: "global", left: world("base/3"), right: world("even") },
    text: "Evenkeel's own policy tells whoever gains most by it, weighted by what it has suffered so far. The budget is the same third.",
    look: "A against B, in the same seconds: B's bars are shorter, and alike.",
    numbers: pairOf("mean", "std", "rate"),
  },
];
