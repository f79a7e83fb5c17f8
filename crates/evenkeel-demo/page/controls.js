// Everything that can be set. What the server says is the truth: fields show `state.settings`, whoever changed it.

import { TITLES, WORLDS } from "./colours.js";
import { byId, make, write } from "./dom.js";
import { Choice, Slider, Switch, Words } from "./fields.js";
import { Networks } from "./networks.js";
import { budgeted, meaning, policyOptions } from "./policies.js";

const CLOCKS = {
  global: "messages count from when they were true, by one clock for all",
  local: "messages count from their arrival: what games do today",
  "one-way": "messages count from their arrival less the estimated delay",
};
const CROWDS = {
  papers: "bots near the server drive; receivers at 200, 500 and 800 ms watch",
  internet: "eight bots at 20 to 250 ms drive and watch; more bots than eight are near",
};
const THIRD = { policy: "even", budget: "1/3" };

/** The controls. `command(object)` sends. */
export class Controls {
  #form = byId("controls");
  #command;
  #networks = new Networks((patch, field) => this.#set({ players: patch }, field));
  #fields = {};
  #asked = null;
  #settings = null;
  #policies = [];
  #right = THIRD;

  constructor(command) {
    this.#command = command;
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    this.#form.append(
      make(
        "datalist",
        { id: "budgets" },
        ...["1", "1/2", "1/3", "1/4", "1/6", "40/s", "100/s"].map((value) => make("option", { value })),
      ),
      this.#group("policies", "Policies", true, ...this.#worlds()),
      this.#group("reckoning", "Clock, thresholds, lag", false, ...this.#reckoning()),
      this.#group("game", "Game", false, ...this.#game()),
      this.#group("networks", "Networks", false, this.#networks.element),
      make("button", { id: "reset", type: "button", text: "Begin the numbers anew", on: { click: () => this.#reset() } }),
      make("p", { id: "refused", class: "hint refused", role: "alert" }),
    );
  }

  #group(id, title, open, ...content) {
    return make(
      "details",
      { id: `group-${id}`, class: "group", open },
      make("summary", { text: title }),
      make("fieldset", {}, make("legend", { class: "unseen", text: title }), ...content),
    );
  }

  #add(Kind, name, options) {
    const field = new Kind({ id: `set-${name}`, ...options });
    this.#fields[name] = field;
    return field.element;
  }

  #worlds() {
    const pair = (world, index) => {
      const hint = "what is said to whom";
      const policy = {
        label: `Policy, ${TITLES[index]}`,
        hint,
        send: (value, field) => this.#set({ [world]: { policy: value } }, field),
      };
      const budget = {
        label: `Budget, ${TITLES[index]}`,
        list: "budgets",
        send: (value, field) => this.#set({ [world]: { budget: value } }, field),
      };
      return [this.#add(Choice, `${world}-policy`, policy), this.#add(Words, `${world}-budget`, budget)];
    };
    const right = {
      label: "World B",
      hint: "the same movement by another policy",
      send: (on, field) => this.#set({ right: on ? this.#right : null }, field),
    };
    const [a, b] = WORLDS.map(pair);
    return [...a, this.#add(Switch, "right", right), ...b];
  }

  #reckoning() {
    const clock = Object.keys(CLOCKS).map((rule) => [rule, rule]);
    const slider = (name, label, hint, range, patch) =>
      this.#add(Slider, name, { label, hint, ...range, send: (value, field) => this.#set(patch(value), field) });
    const lag = { min: 0, max: 1000, step: 10, unit: "ms" };
    return [
      this.#add(Choice, "clock", { label: "Clock", options: clock, send: (value, field) => this.#set({ clock: value }, field) }),
      slider(
        "distance",
        "Threshold",
        "a message is sent when the last one would be this far off",
        { min: 0.1, max: 10, step: 0.1, unit: "" },
        (distance) => ({ threshold: { distance } }),
      ),
      slider("degrees", "… of turning", "or the heading is off by this much", { min: 0.5, max: 45, step: 0.5, unit: "°" }, (degrees) => ({
        threshold: { degrees },
      })),
      slider("lag-movement", "Movement lag", "everybody shows movement this much later; errors are measured against that moment", lag, (movement_ms) => ({
        lag: { movement_ms },
      })),
      slider("lag-verdicts", "Verdict lag", "who is hit is decided this much later, when more messages have come in", lag, (verdicts_ms) => ({ lag: { verdicts_ms } })),
    ];
  }

  #game() {
    const crowds = Object.keys(CROWDS).map((crowd) => [crowd, crowd]);
    const games = ["tanks", "ships"].map((game) => [game, game]);
    return [
      this.#add(Choice, "game", {
        label: "Game",
        hint: "what is played",
        options: games,
        send: (game, field) => this.#set({ game }, field),
      }),
      this.#add(Choice, "crowd", { label: "Crowd", options: crowds, send: (crowd, field) => this.#set({ crowd }, field) }),
      this.#add(Slider, "bots", {
        label: "Bots",
        min: 1,
        max: 16,
        step: 1,
        unit: "",
        send: (bots, field) => this.#set({ bots }, field),
      }),
    ];
  }

  /** Sends a change, and remembers who asked. */
  #set(patch, field) {
    this.#asked?.accept?.();
    this.#asked = field;
    write(byId("refused"), "");
    if (!this.#command({ set: patch })) this.refuse("not connected: nothing was changed");
  }

  #reset() {
    this.#asked = null;
    if (!this.#command({ do: "reset" })) this.refuse("not connected");
  }

  /** What policies there are. */
  offer(policies) {
    this.#policies = policies;
    for (const world of WORLDS) this.#fields[`${world}-policy`].offer(policyOptions(policies));
    if (this.#settings) this.show(this.#settings);
  }

  /** Says next to the field why what was asked for cannot be. */
  refuse(why) {
    if (this.#settings) this.#fill(this.#settings);
    if (this.#asked?.refuse) this.#asked.refuse(why);
    else write(byId("refused"), why);
  }

  /** Shows the settings. `frozen`: a recording is looked at, nothing can be set. */
  show(settings, { views = null, unit = "", frozen = false } = {}) {
    this.#settings = settings;
    this.#form.inert = frozen;
    this.#fields.distance.unit = unit || this.#fields.distance.unit;
    if (views) this.#networks.update(settings.players, views);
    this.#fill(settings);
  }

  #fill(settings) {
    const fields = this.#fields;
    for (const world of WORLDS) this.#fillWorld(world, settings[world]);
    fields.right.show(settings.right !== null);
    fields.clock.show(settings.clock);
    fields.clock.explain(CLOCKS[settings.clock] ?? "");
    fields.distance.show(settings.threshold.distance);
    fields.degrees.show(settings.threshold.degrees);
    fields["lag-movement"].show(settings.lag.movement_ms);
    fields["lag-verdicts"].show(settings.lag.verdicts_ms);
    fields.game.show(settings.game);
    fields.crowd.show(settings.crowd);
    fields.crowd.explain(CROWDS[settings.crowd] ?? "");
    fields.bots.show(settings.bots);

    fields.bots.explain(settings.crowd === "papers" ? "who drive, near the server" : "who drive: at least eight in this crowd");
    this.#networks.fill();
  }

  #fillWorld(name, world) {
    const [policy, budget] = [this.#fields[`${name}-policy`], this.#fields[`${name}-budget`]];
    policy.input.disabled = world === null;
    budget.input.disabled = world === null || !budgeted(world.policy);
    if (name === "right") this.#right = world ?? this.#right;
    // What is off shows what it would be switched on with.
    const shown = world ?? this.#right;
    policy.show(shown.policy);
    policy.explain(meaning(shown.policy, this.#policies));
    budget.show(shown.budget);
    budget.explain(budgeted(shown.policy) ? "a share of what base sends (1/3), 200/s, 20kB/s, or 4kB/s/receiver" : "this policy has no use for one");
  }
}
