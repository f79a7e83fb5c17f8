// Policies as a person chooses them.

const FIRST = ["base", "base/2", "base/3", "base/6", "schedule-drop", "lottery", "credits", "tolerance", "even"];
const ANY = "base/k";

/** Whether a policy spends a budget; the others send what they send. */
export const budgeted = (policy) => /^(lottery|credits|tolerance|even)/.test(policy);

/** Options `[value, text]`: the ones that matter first, then all the others. */
export function policyOptions(policies) {
  const others = policies.map(([name]) => name).filter((name) => name !== ANY && !FIRST.includes(name));
  return [...FIRST, ...others].map((name) => [name, name]);
}

/** What a policy's name stands for; some are second names of others. */
export function meaning(policy, policies) {
  const find = (name) => policies.find(([known]) => known === name)?.[1];
  const every = /^base\/(\d+)$/.exec(policy);
  if (every) return `every ${ordinal(Number(every[1]))} vector to everybody`;
  const text = find(policy) ?? "";
  return find(text) ?? text;
}

function ordinal(n) {
  const ending = n % 100 >= 11 && n % 100 <= 13 ? "th" : ({ 1: "st", 2: "nd", 3: "rd" }[n % 10] ?? "th");
  return n === 2 ? "second" : n === 3 ? "third" : `${n}${ending}`;
}
