import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../call/chat.ts";
import { DeltaEvents } from "./delta-events.ts";

const learn = (event: string) => DeltaEvents.from(event, JSON.parse(event) as JsonObject);

/** As vendors send them: the number before the text, behind it, or not at all. */
const forms: Readonly<Record<string, (number: number, text: string) => string>> = {
  "the number first": (number, text) =>
    `{"type":"response.output_text.delta","sequence_number":${number},"item_id":"m","delta":"${text}","logprobs":[]}`,
  "the number last": (number, text) =>
    `{"type":"response.output_text.delta","delta":"${text}","item_id":"m","obfuscation":"${"x".repeat(number % 9)}","sequence_number":${number}}`,
  "no number": (_, text) => `{"type":"response.output_text.delta","item_id":"m","delta":"${text}"}`,
};

for (const [name, form] of Object.entries(forms))
  describe(`events with ${name}`, () => {
    const events = learn(form(9, "Hello"));

    test("that are like the learned one are known by their text", () => {
      for (const text of ["", " there", "\u00fc{}[]", "1"])
        for (const number of [0, 10, 123_456]) expect(events?.match(form(number, text))).toBe(text);
    });

    test("that are not valid JSON, or have an escape, are parsed", () => {
      const good = form(10, "evil");
      for (const bad of [
        form(10, "evil\u0000"),
        form(10, "evil\\n"),
        `${good}}`,
        `${good} evil`,
        good.slice(0, -1),
        good.replace('"evil"', '"evil'),
        good.replace('"evil"', '"evil" evil'),
        good.replace('"m"', '"n"'),
        ...(good.includes("10")
          ? [good.replace("10", "01"), good.replace("10", "1".repeat(16))]
          : []),
        ...(good.includes("10") ? [good.replace("10", ""), good.replace("10", "-1")] : []),
      ])
        expect(events?.match(bad)).toBeUndefined();
    });
  });

test("an event whose text could be another field is not learned from", () => {
  for (const event of [
    '{"type":"a.delta","delta":"\\n"}',
    '{"type":"a.delta","delta":{"delta":"x"}}',
    '{"type":"a.delta","delta":"x","delta":"y"}',
    '{"type":"a.delta","text":"x"}',
    '{"type":"a.delta","delta" :"x"}',
  ])
    expect(learn(event)).toBeUndefined();
});
