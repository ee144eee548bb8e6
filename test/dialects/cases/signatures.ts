/**
 * Thoughts that a vendor signs or encrypts: in a conversation with tools they come back to the vendor
 * as it gave them, whatever the dialect in between, if the caller sends back what it got.
 */

import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/call/chat.ts";
import { geminiEvent, geminiReply } from "../../fake/vendors/gemini-replies.ts";
import { clockCall, fullCounts, plainAnswer, weatherCall } from "../../providers/calls.ts";
import type { Answer, VendorReply } from "../../providers/dialect.ts";
import { type Form, forms, reply, type Stage } from "../stage.ts";
import { type Pair, twinOf, vendors } from "../vendors.ts";
import { sealedThought } from "../wires/openai-responses.ts";
import { tools } from "./words.ts";

const thought = "The city is Zürich.";
const answerOf = ({ wire }: Pair): Answer => ({
  pieces: [
    { reasoning: "The city " },
    { reasoning: "is Zürich." },
    { call: weatherCall },
    { call: clockCall },
  ],
  finish: "tool_calls",
  usage: fullCounts(wire.can),
});

/** A vendor that signs, its answer, and what it must get back with the next request. */
interface Signer {
  readonly answer: (pair: Pair, form: Form) => VendorReply;
  readonly expected: readonly string[];
}

const google = "Z29vZ2xlLXNpZ25hdHVyZQ==";

/** Signs the first of several calls. */
function googleAnswer({ wire }: Pair, form: Form): VendorReply {
  const calls = [weatherCall, clockCall].map(({ name, pieces }, at): JsonObject => {
    const functionCall = { name, args: JSON.parse(pieces.join("")) as JsonObject };
    return at === 0 ? { functionCall, thoughtSignature: google } : { functionCall };
  });
  const parts: readonly JsonObject[] = [{ text: thought, thought: true }, ...calls];
  const usage = { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 };
  const said = geminiReply({ parts, finishReason: "STOP", usage });
  const { headers } = reply({ wire } as Pair, form, plainAnswer(wire.can));
  return { headers, packets: [form === "whole" ? JSON.stringify(said) : geminiEvent(said)] };
}

const signed = "c2lnbmVk";
const anthropic: Signer = {
  answer: (pair, form) => reply(pair, form, answerOf(pair)),
  expected: [thought, signed],
};

const sealing: Signer = {
  answer: (pair, form) => reply(pair, form, answerOf(pair)),
  expected: [sealedThought],
};

const signers: Readonly<Record<string, Signer>> = {
  anthropic,
  bedrock: anthropic,
  gemini: { answer: googleAnswer, expected: [google] },
  vertex: { answer: googleAnswer, expected: [google] },
  "openai-responses-only": sealing,
};

export function signatureCases(stage: Stage, pair: Pair): void {
  const { driver, vendor, isNative } = pair;
  // Its chat completions give nothing of it.
  const signer = vendor.name === "openai" && isNative ? sealing : signers[vendor.name];
  if (!driver.can.thinking || signer === undefined) return;
  describe("signed thoughts", () => {
    for (const form of forms)
      test(`${form}: come back to the vendor that signed them, with the results of its tools`, async () => {
        const sent = await converse({ stage, pair, form, signer, to: pair.vendor.name });
        for (const words of signer.expected) expect(sent).toContain(words);
      });

    // What is left out is read from the request, whichever form the answer had.
    const form = "streamed";
    const [other] = vendors.filter(({ name }) => name === "compatible");
    test("are left out for a model that did not write them", async () => {
      const wire = other?.wires[driver.name];
      if (other === undefined || wire === undefined) throw new Error("no other vendor");
      const sent = await converse({ stage, pair, form, signer, to: other.name, toWire: wire });
      for (const words of [thought, ...signer.expected]) expect(sent).not.toContain(words);
      expect(sent).not.toContain("svc1.");
    });

    // Elsewhere nothing tells models of one vendor apart: the vendor sees to it.
    if (driver.name !== "chat" && !isNative)
      test("are left out for another model of the same vendor", async () => {
        const sent = await converse({ stage, pair, form, signer, to: twinOf(vendor) });
        for (const words of [thought, ...signer.expected]) expect(sent).not.toContain(words);
        expect(sent).not.toContain("svc1.");
      });
  });
}

/** Two turns: the model calls two tools, and gets their results. Gives the second request. */
async function converse(options: {
  readonly stage: Stage;
  readonly pair: Pair;
  readonly form: Form;
  readonly signer: Signer;
  readonly to: string;
  readonly toWire?: Pair["wire"];
}): Promise<string> {
  const { stage, pair, form, signer, to, toWire = pair.wire } = options;
  const caller = await stage.caller(pair);
  const last = reply({ ...pair, wire: toWire }, form, plainAnswer(toWire.can));
  stage.answer(pair, signer.answer(pair, form), last);
  const question = { by: "user", content: ["Weather and time?"] } as const;
  const ask = { tools, thinks: true, cap: 4_096 };
  const first = await caller.hear({ ...ask, turns: [question] }, form);
  expect(first.calls.map(({ name }) => name)).toEqual(["get_weather", "get_time"]);
  const [one, two] = first.calls;
  const second = await caller.hear(
    {
      ...ask,
      model: to,
      turns: [
        question,
        { by: "assistant", echo: first.echo },
        { by: "tool", id: one?.id ?? "", content: ["7 degrees"] },
        { by: "tool", id: two?.id ?? "", content: ["noon"] },
      ],
    },
    form,
  );
  expect(second.finish).toBe("stop");
  const request = stage.calls.at(-1);
  if (request === undefined) throw new Error("there was no second request");
  for (const result of ["7 degrees", "noon"]) expect(request.body).toContain(result);
  return request.body;
}
