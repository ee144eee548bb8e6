/**
 * Upstreams whose last word is wrong: counts that cannot be, counts where they do not belong, and
 * replies that are called whole and are not. Natively and translated, whole and streamed, a caller
 * pays for what was said, and nothing unfinished looks like an answer.
 */

import { beforeAll, describe, expect, test } from "bun:test";
import { isJsonObject, type Json, type JsonObject } from "../../src/call/chat.ts";
import type { Answer } from "../providers/dialect.ts";
import { framed } from "../providers/stage.ts";
import { countTokens } from "../setup/money-home.ts";
import { untilCounted } from "./cases/counting.ts";
import { chatDriver } from "./drivers/chat.ts";
import { messagesDriver } from "./drivers/messages.ts";
import { responsesDriver } from "./drivers/responses.ts";
import { type Form, forms, reply, Stage } from "./stage.ts";
import { type Pair, pairsOf, sceneName, twinOf } from "./vendors.ts";
import { verdictOf } from "./verdict.ts";

const stage = new Stage();

beforeAll(() => untilCounted(stage));

const pairOf = (driver: Parameters<typeof pairsOf>[0], name: string): Pair => {
  const pair = pairsOf(driver).find(({ vendor }) => vendor.name === name);
  if (pair === undefined) throw new Error(`no ${driver.name} on ${name}`);
  return pair;
};
const messages = pairOf(messagesDriver, "anthropic");
const natives = [messages, pairOf(responsesDriver, "openai")];
const throughResponses = [
  pairOf(responsesDriver, "openai"),
  pairOf(chatDriver, "openai-responses-only"),
];

const words = Array.from({ length: 40 }, (_, at) => ` word${at}`);
const answer: Answer = {
  pieces: words.map((text) => ({ text })),
  finish: "stop",
  usage: { input: 20, output: 80 },
};

type Change = (last: Record<string, Json | undefined>) => void;

/** The reply with a change in what ends it: the whole of it, or the last event that has counts. */
function lying(pair: Pair, form: Form, change: Change) {
  const said = reply(pair, form, answer);
  const packets = said.packets.map((packet) =>
    String(packet).replace(/^(?:data: )?\{.*\}$/gm, (line) => {
      const [prefix] = /^(?:data: )?/.exec(line) ?? [""];
      const data = JSON.parse(line.slice(prefix.length)) as JsonObject;
      if (form === "whole") change(data);
      else if (data["type"] === "message_delta") change(data);
      else if (data["type"] === "response.completed" && isJsonObject(data["response"]))
        change(data["response"]);
      return prefix + JSON.stringify(data);
    }),
  );
  return framed({ ...said, packets }, { framing: form === "whole" ? "length" : "close" });
}

async function pay(pair: Pair, form: Form, change: Change) {
  const caller = await stage.caller(pair);
  stage.answer(pair, lying(pair, form, change));
  const response = await caller.send({ cap: 500, model: twinOf(pair.vendor) }, form);
  const text = await response.text();
  const receipt = await caller.payer.receipt();
  return { status: response.status, text, receipt };
}

const withOutput =
  (output: Json): Change =>
  (last) => {
    last["usage"] = { ...(last["usage"] as JsonObject), output_tokens: output };
  };

const noCounts: Readonly<Record<string, Change>> = {
  missing: (last) => delete last["usage"],
  "an empty object": (last) => (last["usage"] = {}),
  null: (last) => (last["usage"] = null),
  "a list": (last) => (last["usage"] = [1]),
  "an output of null": withOutput(null),
  "an output of 0": withOutput(0),
  "a negative output": withOutput(-5),
  "half a token": withOutput(80.5),
  "an output as text": withOutput("80"),
  "an output of 10^15": withOutput(1e15),
};

describe.each(natives.map((pair) => [sceneName(pair), pair] as const))("%s", (_, pair) => {
  test.each(Object.entries(noCounts))("usage that is %s costs what was said", async (_, change) => {
    for (const form of forms) {
      const { receipt } = await pay(pair, form, change);
      const { outcome, estimated, units } = receipt;
      const output = countTokens(words.join(""));
      expect({ form, outcome, estimated, output: units.output }).toEqual({
        form,
        outcome: "ok",
        estimated: true,
        output,
      });
    }
  });
});

describe.each(throughResponses.map((pair) => [sceneName(pair), pair] as const))("%s", (_, pair) => {
  test.each(["queued", "in_progress", "failed", "cancelled", "evil"])(
    "a response that is %s is an error",
    async (status) => {
      for (const form of forms) {
        const {
          text,
          status: got,
          receipt,
        } = await pay(pair, form, (last) => {
          last["status"] = status;
        });
        expect(receipt.outcome).toBe("upstream_error");
        if (form === "whole") expect(got).toBe(502);
        else expect(verdictOf(text, pair.driver.endMark)).toBe("failed");
      }
    },
  );
});

test("a message without a stop reason is an error", async () => {
  const whole = await pay(messages, "whole", (last) => (last["stop_reason"] = null));
  expect([whole.status, whole.receipt.outcome]).toEqual([502, "upstream_error"]);
  const streamed = await pay(messages, "streamed", (last) => (last["delta"] = {}));
  expect(streamed.receipt.outcome).toBe("upstream_error");
  expect(verdictOf(streamed.text, messagesDriver.endMark)).toBe("failed");
});

test("the counts of a second start are neither shown nor charged", async () => {
  const { packets, ...said } = messages.wire.streamed(answer);
  const [start = ""] = packets;
  const again = String(start).replace(/"input_tokens":\d+/, '"input_tokens":90000');
  const ended = packets.map((packet) =>
    String(packet).replace(/("type":"message_delta".*"usage":)\{.*\}\}/, '$1{"output_tokens":80}}'),
  );
  const caller = await stage.caller(messages);
  stage.answer(messages, framed({ ...said, packets: ended.toSpliced(9, 0, again) }));
  await caller.hear({ cap: 500 }, "streamed");
  const { units } = await caller.payer.receipt();
  expect([units.input, units.output]).toEqual([20, 80]);
});
