// Policies as a person chooses them.

const USUAL = {
  base: "every message to everybody",
  "base/3": "every third message to everybody",
  "schedule-drop": "messages to near receivers are held back until errors are equal, or dropped",
  lottery: "who is told is drawn by lot; who has suffered more has more tickets",
  credits: "receivers take turns; who has suffered more comes more often",
  tolerance: "fewer messages, each to everybody: more error is let pass before one is sent",
  even: "our own: tells those who gain most by it, the worse off first; at most 2 m of error are taken from others to spare one",
  "even:10": "the same, fairer: at most 10 m are taken from others to spare a worse-off receiver one",
  accumulator: "as game engines do: importance times time since the last message, best first",
};
const FURTHER = ["base/2", "base/6"];
const ANY = "base/k";

/** Whether a policy spends a budget; the others send what they send. */
export const budgeted = (policy) => /^(lottery|credits|tolerance|accumulator|tang-zhou|even)/.test(policy);

/** Options as `Choice` takes them: the usual ones first, then all others. Those that are another's second name are left out. */
export function policyOptions(policies) {
  const names = policies.map(([name]) => name);
  const doubles = policies.flatMap(([name, text]) => (!names.includes(text) ? [] : name in USUAL ? [text] : [name]));
  const others = names.filter((name) => name !== ANY && !(name in USUAL) && !doubles.includes(name));
  const options = (list) => list.map((name) => [name, name]);
  return [...options(Object.keys(USUAL)), ["from the papers, in detail", options([...FURTHER, ...others])]];
}

/** What a policy's name stands for; some are second names of others. */
export function meaning(policy, policies) {
  const find = (name) => policies.find(([known]) => known === name)?.[1];
  const every = /^base\/(\d+)$/.exec(policy);
  if (policy in USUAL) return USUAL[policy];
  if (every) return `every ${ordinal(Number(every[1]))} message to everybody`;
  const text = find(policy) ?? "";
  return (find(text) ?? text).replaceAll("vector", "message");
}

function ordinal(n) {
  const ending = n % 100 >= 11 && n % 100 <= 13 ? "th" : ({ 1: "st", 2: "nd", 3: "rd" }[n % 10] ?? "th");
  return n === 2 ? "second" : `${n}${ending}`;
}
