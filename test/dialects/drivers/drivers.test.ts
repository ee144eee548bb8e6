/** The readers of replies accept what the formats have, and notice whatever is missing or repeated. */

import { describe, expect, test } from "bun:test";
import { clockCall, fullCounts, weatherCall } from "../../providers/calls.ts";
import type { Answer } from "../../providers/dialect.ts";
import type { Driver, HeardStream } from "../driver.ts";
import { drivers, vendors } from "../vendors.ts";
import type { Wire } from "../wires/wire.ts";

/** A vendor that speaks the format itself. */
function speakerOf({ name }: Driver): Wire {
  const speaker = { chat: "compatible", responses: "openai", messages: "anthropic" } as const;
  const vendorName = name === "completions" ? "compatible" : speaker[name];
  const wire = vendors.find((vendor) => vendor.name === vendorName)?.wires[name];
  if (wire === undefined) throw new Error(`nobody speaks ${name}`);
  return wire;
}

for (const driver of drivers)
  describe(`the reader of ${driver.name}`, () => {
    const wire = speakerOf(driver);
    const isText = driver.name === "completions";
    const answer: Answer = {
      pieces: isText
        ? [{ text: "I " }, { text: "look." }]
        : [
            { reasoning: "Two " },
            { reasoning: "tools." },
            { text: "I " },
            { text: "look." },
            { call: weatherCall },
            { call: clockCall },
          ],
      finish: isText ? "stop" : "tool_calls",
      usage: fullCounts(wire.can),
    };
    const packets = wire.streamed(answer).packets.map(String);
    const expected = {
      text: "I look.",
      reasoning: isText ? "" : "Two tools.",
      finish: answer.finish,
      calls: isText ? [] : [{ name: "get_weather" }, { name: "get_time" }],
    };

    test("reads a whole reply of the vendor whose format it is", () => {
      const [body = ""] = wire.whole(answer).packets.map(String);
      expect(driver.fromReply(JSON.parse(body))).toMatchObject(expected);
    });

    test("reads a stream of that vendor", () => {
      const heard = driver.fromStream(packets.join(""));
      expect(heard).toMatchObject({ ...expected, isDone: true });
      expect(packets.join("")).toContain(driver.endMark);
    });

    const good = driver.fromStream(packets.join(""));
    for (const [at, packet] of packets.entries()) {
      // These say nothing: a stream without them, or with more of them, is as good.
      if (packet.includes('"ping"') || packet.includes('"partial_json":""')) continue;
      const name = `event ${at} (${packet.slice(0, 60).split("\n")[0]})`;
      test(`notices that ${name} is missing`, () => {
        expect(outcomeOf(driver, packets.toSpliced(at, 1))).not.toEqual(good);
      });
      test(`notices that ${name} came twice`, () => {
        expect(outcomeOf(driver, packets.toSpliced(at, 0, packet))).not.toEqual(good);
      });
    }
  });

function outcomeOf(driver: Driver, packets: readonly string[]): HeardStream | "refused" {
  try {
    return driver.fromStream(packets.join(""));
  } catch {
    return "refused";
  }
}
