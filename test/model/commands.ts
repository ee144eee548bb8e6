import type { BudgetPeriod } from "../../src/call/limits.ts";
import { Dice } from "../fuzz/cases/dice.ts";

/** What a call used, in percent of the most that it was let in for. */
export interface Use {
  readonly inputPercent: number;
  readonly outputPercent: number;
  /** Part of the input that came from a cache. */
  readonly cachedPercent: number;
}

/** How a call ends. Those that were delivered in part stay owed when they cannot be written. */
export type Ending = "whole" | "streamed" | "failed" | "left-early" | "left" | "broke";

/**
 * One step. Accounts, keys, models and calls are numbers, taken modulo what there is at that
 * moment, so that a list of commands makes sense also when some of them are left out.
 */
export type Command =
  | { readonly type: "account" }
  | {
      readonly type: "entry";
      readonly account: number;
      readonly kind: "credit" | "withdrawal" | "refund";
      readonly nano: bigint;
      readonly reference: number;
    }
  | {
      readonly type: "budget";
      /** An account and its keys, one after another. */
      readonly owner: number;
      readonly nano: bigint | undefined;
      readonly period: BudgetPeriod;
    }
  /** A budget is set while a call ends, some turns of the event loop later. */
  | {
      readonly type: "race";
      readonly call: number;
      readonly use: Use;
      readonly turns: number;
      readonly budget: Extract<Command, { readonly type: "budget" }>;
    }
  | { readonly type: "clock"; readonly ms: number }
  /** To shortly before a period ends. */
  | { readonly type: "edge"; readonly of: "day" | "month"; readonly beforeMs: number }
  | {
      readonly type: "price";
      readonly model: number;
      readonly input: bigint;
      readonly cached: bigint | undefined;
      readonly output: bigint;
      readonly inHours: number;
    }
  | { readonly type: "suspend" | "resume"; readonly account: number }
  | {
      readonly type: "admit";
      readonly key: number;
      readonly model: number;
      readonly input: number;
      readonly cap: number;
      readonly choices: number;
      readonly isCapNamed: boolean;
      /** How long the request's body takes. */
      readonly bodyMs: number;
    }
  | { readonly type: "end"; readonly call: number; readonly how: Ending; readonly use: Use }
  | { readonly type: "store"; readonly mode: "works" | "fails" | "unsure" }
  /** Who waits for a store that fails is sent away. */
  | { readonly type: "impatience" }
  | { readonly type: "sums" }
  | {
      readonly type: "crash";
      /** The files as they are at that moment, or after the database was closed. */
      readonly copies: boolean;
      /** A call that ends just then, and how many turns of the event loop before the crash. */
      readonly call: number;
      readonly turns: number;
      readonly use: Use;
      /** What the operator takes out of an account before the next start. */
      readonly withdraws: "nothing" | "all" | "too much";
    };

export function drawCommands(seed: number, steps: number): readonly Command[] {
  const dice = new Dice(seed);
  const commands: Command[] = [
    { type: "account" },
    { type: "entry", account: 0, kind: "credit", nano: 5_000_000n, reference: 0 },
  ];
  while (commands.length < steps) commands.push(...draw(dice));
  return commands.slice(0, steps);
}

/** One command, or some that seldom come together by chance. */
function draw(dice: Dice): readonly Command[] {
  if (dice.percent(4)) return drawTrouble(dice);
  if (dice.percent(4)) return drawBudgetDance(dice);
  return [drawOne(dice)];
}

function drawOne(dice: Dice): Command {
  return dice.weighted<() => Command>([
    [3, () => ({ type: "account" })],
    [24, () => drawEntry(dice)],
    [16, () => drawBudget(dice)],
    [10, () => ({ type: "clock", ms: dice.magnitude(1, 600_000) })],
    [4, () => ({ type: "clock", ms: dice.pick([3_600_000, 86_400_000, 31 * 86_400_000]) })],
    [5, () => ({ type: "edge", of: dice.pick(["day", "month"]), beforeMs: dice.between(1, 5) })],
    [7, () => drawPrice(dice)],
    [1, () => ({ type: "suspend", account: dice.below(100) })],
    [8, () => ({ type: "resume", account: dice.below(100) })],
    [70, () => drawAdmit(dice)],
    [45, () => drawEnd(dice)],
    [4, () => ({ type: "store", mode: dice.pick(["fails", "unsure"]) })],
    [24, () => ({ type: "store", mode: "works" })],
    [8, () => ({ type: "impatience" })],
    [4, () => ({ type: "sums" })],
    [4, () => drawCrash(dice)],
  ])();
}

/** What ended before is still to be written, though the sums of its hour are closed. */
const hoursLater: readonly Command[] = [{ type: "clock", ms: 3 * 3_600_000 }, { type: "sums" }];

/** A disk that fails while calls end. */
function drawTrouble(dice: Dice): readonly Command[] {
  return [
    drawAdmit(dice),
    drawAdmit(dice),
    { type: "store", mode: dice.pick(["fails", "fails", "unsure"]) },
    drawEnd(dice),
    ...(dice.percent(60) ? [{ type: "impatience" } as const] : []),
    ...(dice.percent(30) ? hoursLater : []),
    drawEnd(dice),
    ...(dice.percent(70) ? [{ type: "store", mode: "works" } as const] : []),
    ...(dice.percent(50) ? [drawCrash(dice)] : []),
  ];
}

/** A budget that changes while calls run, or comes when they have begun. */
function drawBudgetDance(dice: Dice): readonly Command[] {
  const owner = dice.below(3);
  const budget = () => ({ ...drawBudget(dice), owner });
  const race = () =>
    ({
      type: "race",
      call: dice.below(100),
      use: drawUse(dice),
      turns: dice.below(4),
      budget: budget(),
    }) as const;
  return dice.percent(50)
    ? [budget(), drawAdmit(dice), budget(), race(), drawEnd(dice), drawAdmit(dice), budget()]
    : [
        { ...budget(), nano: undefined },
        drawAdmit(dice),
        drawAdmit(dice),
        drawAdmit(dice),
        race(),
        drawEnd(dice),
        race(),
        drawAdmit(dice),
      ];
}

function drawEntry(dice: Dice): Command {
  const kind = dice.pick(["credit", "credit", "withdrawal", "refund"] as const);
  // Few amounts and references, so that the same come again.
  const nano = dice.pick([1n, 900_000n, 4_000_000n, 10_000_001n]);
  return { type: "entry", account: mostlyFirst(dice, 1), kind, nano, reference: dice.below(60) };
}

function drawBudget(dice: Dice): Extract<Command, { readonly type: "budget" }> {
  return {
    type: "budget",
    owner: mostlyFirst(dice, 3),
    nano: dice.percent(35) ? undefined : BigInt(dice.magnitude(50_000, 15_000_000)) - 50_000n,
    period: dice.pick(["total", "day", "month"]),
  };
}

/** What happens to one and the same owner is what can go wrong. */
function mostlyFirst(dice: Dice, first: number): number {
  return dice.percent(75) ? dice.below(first) : dice.below(100);
}

function drawPrice(dice: Dice): Command {
  return {
    type: "price",
    model: dice.below(100),
    input: dice.pick([0n, 7n, 30_000_001n, 300_000_000n]),
    cached: dice.percent(40) ? undefined : dice.pick([0n, 30_000_000n, 400_000_001n]),
    output: dice.pick([0n, 11n, 400_000_000n, 2_500_000_000n]),
    inHours: dice.percent(50) ? 0 : dice.magnitude(1, 800),
  };
}

function drawAdmit(dice: Dice): Command {
  return {
    type: "admit",
    key: mostlyFirst(dice, 2),
    model: dice.below(100),
    input: dice.pick([0, 1, 333, 1_000, 3_000]),
    cap: dice.pick([1, 256, 257, 700, 2_000]),
    choices: dice.pick([1, 1, 1, 2]),
    isCapNamed: dice.percent(50),
    bodyMs: dice.pick([0, 0, 1, 7, 30_000]),
  };
}

function drawUse(dice: Dice): Use {
  const percent = () => dice.pick([0, 1, 50, 99, 100, 100, 101, 150, 1_000]);
  return {
    inputPercent: percent(),
    outputPercent: percent(),
    cachedPercent: dice.pick([0, 0, 40]),
  };
}

function drawEnd(dice: Dice): Command {
  const how = dice.pick<Ending>([
    "whole",
    "whole",
    "whole",
    "streamed",
    "streamed",
    "failed",
    "left-early",
    "left",
    "broke",
  ]);
  return { type: "end", call: dice.below(100), how, use: drawUse(dice) };
}

function drawCrash(dice: Dice): Command {
  return {
    type: "crash",
    copies: dice.percent(70),
    call: dice.below(100),
    turns: dice.below(4),
    use: drawUse(dice),
    withdraws: dice.pick(["nothing", "nothing", "nothing", "all", "too much"]),
  };
}

export function pick<T>(from: readonly T[], number: number): T | undefined {
  return from[number % from.length];
}
