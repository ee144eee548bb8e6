import type { BodyKind } from "./bodies.ts";
import type { Dice } from "./dice.ts";

/** Values on both sides of every limit that the contract names, as they are written. */
export interface Limit {
  readonly kind: BodyKind;
  readonly field: string;
  readonly inside: readonly string[];
  readonly outside: readonly string[];
}

export const limits: readonly Limit[] = [
  { kind: "chat", field: "max_tokens", inside: ["1", "2"], outside: ["0", "-1", "0.5", "1.5"] },
  {
    kind: "chat",
    field: "temperature",
    inside: ["0", "2"],
    outside: ["-1", "-1e-9", "2.0001", "3"],
  },
  { kind: "chat", field: "top_p", inside: ["0", "1"], outside: ["-0.0001", "1.0001", "2"] },
  { kind: "chat", field: "n", inside: ["1", "128"], outside: ["0", "129", "-1", "1.5"] },
  { kind: "chat", field: "top_logprobs", inside: ["0", "20"], outside: ["-1", "21"] },
  { kind: "chat", field: "presence_penalty", inside: ["-2", "2"], outside: ["-2.1", "2.1"] },
  { kind: "chat", field: "frequency_penalty", inside: ["-2", "2"], outside: ["-3", "3"] },
  { kind: "chat", field: "stop", inside: [texts(1), texts(16)], outside: ["[]", texts(17)] },
  { kind: "chat", field: "messages", inside: [], outside: ["[]", "{}"] },
  {
    kind: "text-embeddings",
    field: "dimensions",
    inside: ["768", "1536", "3072"],
    outside: ["767", "769", "0", "-768", "3073", "768.5"],
  },
  {
    kind: "text-embeddings",
    field: "input",
    inside: [texts(1), texts(100), "[0]"],
    outside: ["[]", '""', texts(101), "[-1]", "[1.5]", "[[]]", '[""]'],
  },
  { kind: "media-embeddings", field: "input", inside: [], outside: ["[]", texts(9), texts(1)] },
  {
    kind: "speech",
    field: "input",
    inside: [characters(1), characters(5_000)],
    outside: ['""', characters(5_001)],
  },
  { kind: "speech", field: "voice", inside: ['"Kore"'], outside: ['"kore"', '"alloy"', '""'] },
];

function texts(count: number): string {
  return JSON.stringify(Array.from({ length: count }, () => "x"));
}

function characters(count: number): string {
  return JSON.stringify("👋".repeat(count));
}

const ranges: Readonly<Record<string, readonly [least: number, most: number]>> = {
  temperature: [0, 2],
  top_p: [0, 1],
  presence_penalty: [-2, 2],
  frequency_penalty: [-2, 2],
};

/** One of a limit's values, or any other on the same side where the field is a range of numbers. */
export function valueOf(dice: Dice, { field, inside, outside }: Limit, isInside: boolean): string {
  const range = ranges[field];
  if (range === undefined || dice.percent(40)) return dice.pick(isInside ? inside : outside);
  const [least, most] = range;
  const share = dice.below(10_001) / 10_000;
  if (isInside) return String(least + share * (most - least));
  const beyond = 0.0001 + share * 10 ** dice.below(6);
  return String(dice.percent(50) ? least - beyond : most + beyond);
}
