import { expect, test } from "bun:test";
import { asJson, asText, type Part } from "./report.ts";

const machine = {
  processors: 2,
  model: "some processor",
  platform: "linux x64",
  bun: "1.0.0",
  loadAverage: [0.5, 1, 1.25],
};
const parts: readonly Part[] = [
  {
    title: "Chat",
    figures: [
      { name: "tokens_per_s", label: "decoding", unit: "tokens/s", digits: 1, values: [9, 12, 10] },
      { name: "first_ms", label: "first", unit: "ms", digits: 0, values: [1234] },
    ],
    problems: [],
  },
  { title: "Speech", figures: [], problems: ["it was silent"] },
];

test("rounds are told as median and range, one value alone, a failure in its part", () => {
  const text = asText(machine, parts);
  expect(text).toContain("decoding   10.0 (9.0–12.0) tokens/s");
  expect(text).toContain("first      1,234 ms");
  expect(text).toContain("Speech\n  failed: it was silent");
});

test("figures come with the machine and how busy it was", () => {
  expect(asText(machine, parts)).toContain("2 × some processor");
  expect(asText(machine, parts)).toContain("0.50, 1.00, 1.25");
});

test("JSON holds every round", () => {
  const [chat, speech] = JSON.parse(asJson(machine, parts)).parts;
  expect(chat.figures[0]).toEqual({
    name: "tokens_per_s",
    unit: "tokens/s",
    median: 10,
    min: 9,
    max: 12,
    rounds: [9, 12, 10],
  });
  expect(speech.problems).toEqual(["it was silent"]);
});
