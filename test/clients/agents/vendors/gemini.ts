import type { JsonObject } from "../../../../src/call/chat.ts";
import { geminiEvent, geminiReply, geminiStream } from "../../../fake/vendors/gemini-replies.ts";
import type { Turn } from "../conversation.ts";
import { argumentsOf, connection, inTwo, objectsIn, type Vendor } from "./vendor.ts";

const upstreamModel = "gemini-3-flash-preview";

export const gemini: Vendor = {
  title: "a Gemini model",
  provider: `{ kind: gemini, ${connection} }`,
  upstreamModel,
  path: `/v1/models/${upstreamModel}:streamGenerateContent`,
  signs: true,
  toStream: (turn: Turn) => geminiStream(eventsOf(turn).map((reply) => geminiEvent(reply))),
  toHistory: ({ contents }) => {
    const parts = objectsIn(contents).flatMap(({ parts: own }) => objectsIn(own));
    const calls = parts.map(({ functionCall }) => Object(functionCall) as JsonObject);
    const results = parts.map(({ functionResponse }) => Object(functionResponse) as JsonObject);
    return {
      calls: calls.filter(({ name }) => name !== undefined).map(({ id, name }) => `${id} ${name}`),
      signatures: parts.flatMap(({ thoughtSignature: signature }) =>
        typeof signature === "string" ? [signature] : [],
      ),
      results: new Map(
        results
          .filter(({ name }) => name !== undefined)
          .map(({ id, response }) => [String(id), JSON.stringify(response)]),
      ),
    };
  },
};

/** Of calls made at once, the vendor signs the first. */
function eventsOf({ thought, signature, text, calls, usage }: Turn): readonly JsonObject[] {
  const usageMetadata = {
    promptTokenCount: usage.input,
    cachedContentTokenCount: usage.cached,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: usage.input + usage.output,
  };
  const texts = inTwo(text).filter((piece) => piece !== "");
  return [
    ...(thought === "" ? [] : [geminiReply({ parts: [{ text: thought, thought: true }] })]),
    ...texts.map((piece) => geminiReply({ parts: [{ text: piece }] })),
    ...calls.map((call, at) => {
      const functionCall = { id: call.id, name: call.name, args: argumentsOf(call) as JsonObject };
      const signed = at === 0 ? { thoughtSignature: signature } : {};
      return geminiReply({ parts: [{ functionCall, ...signed }] });
    }),
    geminiReply({ parts: [{ text: "" }], finishReason: "STOP", usage: usageMetadata }),
  ];
}
