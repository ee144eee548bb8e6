/** Servers that refuse `cache_control`, and callers who would have it seem so. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Bridge, openBridge } from "../../../test/providers/bridge.ts";
import { ask, plainAnswer, weatherTool } from "../../../test/providers/calls.ts";
import type { VendorReply } from "../../../test/providers/dialect.ts";
import { openAiDialect } from "../../../test/providers/dialects/openai.ts";
import { apiErrorOf } from "../../../test/providers/failure-of.ts";
import { can, newModel, refusal } from "../../../test/providers/openai-scene.ts";
import { framed } from "../../../test/providers/stage.ts";
import { ApiError } from "../../base/errors.ts";
import { isJsonObject, type JsonObject } from "../../call/chat.ts";
import { plainQuirks, type Quirks } from "../../call/quirks.ts";
import { CacheMarks } from "./cache-marks.ts";

const chats = openAiDialect({ name: "strict", quirks: plainQuirks });
const cache_control = { type: "ephemeral" };
const path = "messages[0].content.list[ChatMessageContent][0].cache_control";
const strict = refusal(400, { message: `Extra inputs are not permitted, field: '${path}'` });
const ofFramework = {
  ...strict,
  packets: [
    JSON.stringify({
      detail: [
        {
          type: "extra_forbidden",
          loc: ["body", "messages", 0, "content", 0, "cache_control"],
          msg: "Extra inputs are not permitted",
        },
      ],
    }),
  ],
};

const part = (text: string, mark: JsonObject = cache_control): JsonObject => ({
  type: "text",
  text,
  cache_control: mark,
});
const marked = (parts: readonly JsonObject[] = [part("Hello")]) =>
  ask([{ role: "user", content: parts }], { tools: [{ ...weatherTool, cache_control }] });

let bridge: Bridge;
async function open(quirks: Quirks): Promise<Bridge> {
  const opened = await openBridge({ kind: "openai", quirks });
  return opened;
}
beforeAll(async () => {
  bridge = await open(plainQuirks);
});
afterAll(() => bridge.upstream.stop());
beforeEach(() => bridge.upstream.reset());

/** Refuses what `refuses` says, and serves the rest. */
function serve(refuses: (text: string) => VendorReply | undefined, to = bridge): void {
  to.upstream.replyWith((request) => {
    const body = isJsonObject(request.json) ? request.json : {};
    const said = refuses(JSON.stringify(body));
    if (said !== undefined) return framed(said);
    return framed(chats[body["stream"] === true ? "streamed" : "whole"](plainAnswer(can)));
  });
}
const ifMarked = (reply: VendorReply) => (text: string) =>
  text.includes('"cache_control":') ? reply : undefined;
/** Whether each request had marks. */
const marks = (of = bridge) =>
  of.upstream.requests.map(({ json }) => JSON.stringify(json).includes('"cache_control":'));

for (const form of ["chat", "hear"] as const)
  for (const [name, reply] of [
    ["in a sentence", strict],
    ["in the list of a framework", { ...ofFramework, status: 422 }],
  ] as const)
    test(`${form}: a server that refuses them ${name} gets the call without them, and later ones at once`, async () => {
      serve(ifMarked(reply));
      const extra = newModel();
      await bridge[form](marked(), extra);
      await bridge[form](marked(), extra);
      expect(marks()).toEqual([true, false, false]);
      await bridge[form](marked(), newModel());
      expect(marks()).toEqual([true, false, false, true, false]);
    });

test("what a caller's text says about them teaches nothing, and the refusal stands", async () => {
  serve(() => strict);
  const extra = newModel();
  const { code, upstream } = await apiErrorOf(bridge.chat(marked(), extra));
  expect([code, upstream?.reason]).toEqual(["upstream_rejected", "refused"]);
  // Without marks there is nothing to leave out.
  await apiErrorOf(bridge.chat(ask("cache_control"), extra));
  expect(marks()).toEqual([true, false, false]);
  serve(() => undefined);
  await bridge.chat(marked(), extra);
  expect(marks().at(-1)).toBe(true);
});

test("a caller whose marks no server takes is served without them, and no one else is", async () => {
  const most = "A maximum of 4 blocks with cache_control may be provided. Found 5.";
  const { packets } = strict;
  for (const [parts, said] of [
    [
      Array.from({ length: 5 }, () => part("Hello")),
      [JSON.stringify({ error: { message: most } })],
    ],
    [[part("")], packets],
    [[{ ...part("a thought"), type: "thinking" }], packets],
    [[{ ...part("Hello"), more: { cache_control } }], packets],
  ] as const) {
    serve(ifMarked({ ...strict, packets: said }));
    const extra = newModel();
    await bridge.chat(marked(parts), extra);
    serve(() => undefined);
    await bridge.chat(marked(), extra);
    expect(marks()).toEqual([true, false, true]);
    bridge.upstream.reset();
  }
});

test("marks go in the one form that servers know, whatever a caller writes into them", async () => {
  serve(() => undefined);
  const odd: JsonObject[] = [{ type: "odd" }, { type: "ephemeral", ttl: "1h" }, { x: 1 }];
  await bridge.chat(marked(odd.map((mark) => part("Hello", mark))), newModel());
  const [sent] = bridge.upstream.requests;
  expect(sent?.json).toMatchObject({ messages: [{ content: odd.map(() => part("Hello")) }] });
});

test("a server that is known to take them is not asked again", async () => {
  const known = await open({ ...plainQuirks, cacheControl: "taken" });
  try {
    serve(ifMarked(strict), known);
    await apiErrorOf(known.chat(marked(), newModel()));
    expect(marks(known)).toEqual([true]);
  } finally {
    await known.upstream.stop();
  }
});

test("what was learned is forgotten after an hour, and the oldest of more than 256 models before", async () => {
  let nowMs = 0;
  const memory = new CacheMarks(() => nowMs);
  const refused = (model: string) =>
    memory.repeat(
      { call: marked(), target: { model } },
      {
        refusal: new ApiError({
          code: "upstream_rejected",
          message: "The provider rejected the request.",
          upstream: { reason: "refused", remedy: "no-cache-control" },
        }),
        send: async () => "served",
      },
    );
  await refused("first");
  nowMs = 3_600_000;
  expect(memory.areRefusedFor("first")).toBe(true);
  nowMs = 3_600_001;
  expect(memory.areRefusedFor("first")).toBe(false);
  for (let model = 0; model < 257; model++) await refused(`m${model}`);
  expect([0, 1, 256].map((model) => memory.areRefusedFor(`m${model}`))).toEqual([
    false,
    true,
    true,
  ]);
});
