/**
 * Upstreams that speak the caller's own dialect, badly: events cut, swapped, repeated, huge, or with
 * counts that cannot be. A caller gets a good answer or an error, and pays no more than was held.
 */

import { describe, expect, test } from "bun:test";
import type { Bytes } from "../fake/http/reply.ts";
import { Dice } from "../fuzz/cases/dice.ts";
import { clockCall, fullCounts, weatherCall } from "../providers/calls.ts";
import type { VendorReply } from "../providers/dialect.ts";
import { framed } from "../providers/stage.ts";
import { tools } from "./cases/words.ts";
import { messagesDriver } from "./drivers/messages.ts";
import { type Caller, type Form, forms, reply, Stage } from "./stage.ts";
import { type Pair, sceneName, scenes } from "./vendors.ts";
import { verdictOf } from "./verdict.ts";

const seed = 20_261_118;
const rounds = 4;
const stage = new Stage();

type Mutation = (dice: Dice, packets: readonly string[]) => readonly string[];

const at = (dice: Dice, packets: readonly string[]) => dice.below(packets.length);
const lies = ["-1", "1e308", "1.5", '"many"', "null", "{}", "[]", "9007199254740993", "true"];

/** Ways in which a stream goes wrong, by name. */
const mutations: Readonly<Record<string, Mutation>> = {
  truncated: (dice, packets) => packets.slice(0, at(dice, packets)),
  "cut in the middle of an event": (dice, packets) => {
    const last = at(dice, packets);
    const cut = packets[last] ?? "";
    return [...packets.slice(0, last), cut.slice(0, dice.below(cut.length + 1))];
  },
  "without an event": (dice, packets) => packets.toSpliced(at(dice, packets), 1),
  "with an event twice": (dice, packets) => {
    const again = at(dice, packets);
    return packets.toSpliced(again, 0, packets[again] ?? "");
  },
  "with its end twice": (_, packets) => [...packets, ...packets.slice(-2)],
  "with its end at first": (_, packets) => [...packets.slice(-1), ...packets],
  "in another order": (dice, packets) => dice.shuffled(packets),
  "with two events swapped": (dice, packets) => {
    const one = at(dice, packets);
    const other = at(dice, packets);
    return packets.with(one, packets[other] ?? "").with(other, packets[one] ?? "");
  },
  "with an event of 3 MB": (dice, packets) => {
    const huge = at(dice, packets);
    const text = (packets[huge] ?? "").replace(/"(delta|text|partial_json)":"[^"]*"/, (field) =>
      field.replace(/"[^"]*"$/, `"${"x".repeat(3_000_000)}"`),
    );
    return packets.with(huge, text);
  },
  "with a broken event": (dice, packets) =>
    packets.toSpliced(at(dice, packets), 0, dice.pick(brokenEvents)),
  "with lying counts": (dice, packets) =>
    packets.map((packet) =>
      packet.replace(/"(\w*tokens)":\d+/g, (field) =>
        dice.percent(60) ? field.replace(/\d+$/, dice.pick(lies)) : field,
      ),
    ),
  "with odd places": (dice, packets) =>
    packets.map((packet) =>
      packet.replace(/"(\w*index|sequence_number)":\d+/g, (field) =>
        dice.percent(30) ? field.replace(/\d+$/, dice.pick([...lies, "7", "4294967296"])) : field,
      ),
    ),
  "with fields of other types": (dice, packets) =>
    packets.map((packet) =>
      dice.percent(30)
        ? packet.replace(
            /"(delta|text|item|part|content_block|message|response)":/,
            '"$1":null,"x":',
          )
        : packet,
    ),
};

const brokenEvents = [
  "data: {\n\n",
  "data: [1]\n\n",
  "data: null\n\n",
  'data: "text"\n\n',
  "event: error\n\n",
  "data: [DONE]\n\n",
  ": comment\n\n",
  'event: unheard.of\ndata: {"type":"unheard.of","sequence_number":3}\n\n',
  "\u0000\u0001\n\n",
  `data: ${"[".repeat(50_000)}\n\n`,
  "id: 7\nretry: 1\n\n",
];

for (const pair of scenes)
  describe(sceneName(pair), () => {
    for (const [name, mutate] of Object.entries(mutations))
      test(`a stream ${name} ends well or with an error, and never costs more than was held (seed ${seed})`, async () => {
        const caller = await stage.caller(pair);
        for (let number = 0; number < rounds; number++) {
          const packets = mutate(new Dice(seed, number), goodPackets(pair, number));
          try {
            await expectBounded(caller, packets);
          } catch (error) {
            const shown = packets.map((packet) => packet.slice(0, 300)).join("");
            console.error(`seed ${seed}, case ${number}: ${shown.slice(0, 6_000)}`);
            throw error;
          }
        }
        const receipts = await caller.payer.settled(rounds);
        for (const { charged, hold } of receipts) expect(charged <= hold).toBe(true);
      });
  });

/** Longer than an event may be, or slower to parse: whatever is in it, it is not passed on. */
const heavyTexts = ({ driver }: Pair): Readonly<Record<string, string>> => ({
  "700,000 escapes": "\n".repeat(700_000),
  // Events of Responses can repeat the whole prompt.
  ...(driver === messagesDriver
    ? { "5 MB": "x".repeat(5_000_000) }
    : { "17 MB": "x".repeat(17_000_000) }),
});

for (const pair of scenes.filter(({ driver, isNative }) => isNative && driver.can.thinking))
  for (const [name, text] of Object.entries(heavyTexts(pair)))
    test(`${sceneName(pair)}: an event with ${name} is an error, and what went before is charged`, async () => {
      const caller = await stage.caller(pair);
      const pieces = [{ text: "Hello" }, { text }];
      const said = pair.wire.streamed({ pieces, finish: "stop" });
      stage.answer(pair, framed(said, { framing: "close" }));
      const heard = await caller.listen({ cap: 8_000 });
      expect(heard).toMatchObject({ text: "Hello", isDone: false });
      expect(heard.error?.code).toBe("upstream_error");
      const { outcome, charged, hold } = await caller.payer.receipt();
      expect(outcome).toBe("upstream_error");
      expect(charged > 0n && charged < hold).toBe(true);
    });

/** Of an event that is like those before it, which were passed on without parsing. */
const brokenDeltas: Readonly<Record<string, (packet: string) => string>> = {
  "junk after its JSON": (packet) => packet.replace(/\}\n\n$/, "} evil}\n\n"),
  "a raw NUL": (packet) => packet.replace(', you."', ', evil\u0000"'),
  "40,000 nested lists": (packet) =>
    packet.replace(/\}\n\n$/, `,"evil":${"[".repeat(40_000)}${"]".repeat(40_000)}}\n\n`),
};

for (const pair of scenes.filter(({ driver, isNative }) => isNative && driver.can.thinking))
  for (const [name, breakEvent] of Object.entries(brokenDeltas))
    test(`${sceneName(pair)}: a piece of text with ${name} is an error, and does not reach the caller`, async () => {
      const caller = await stage.caller(pair);
      const packets = goodPackets(pair, 1).map((packet) =>
        packet.includes('", you."') && packet.includes("delta") ? breakEvent(packet) : packet,
      );
      const { headers } = pair.wire.streamed({ pieces: [], finish: "stop" });
      stage.answer(pair, framed({ headers, packets }, { framing: "close" }));
      const text = await (await caller.send({ cap: 500 }, "streamed")).text();
      expect(text).toContain('" there"');
      expect(text).not.toContain("evil");
      expect(verdictOf(text, pair.driver.endMark)).toBe("failed");
    });

/** With thoughts and calls, or with words alone. */
function goodPackets({ wire, driver }: Pair, number: number): readonly string[] {
  const hasMore = number % 2 === 0 && driver.can.tools;
  const pieces = hasMore
    ? [{ reasoning: "Hm." }, { text: "I look." }, { call: weatherCall }, { call: clockCall }]
    : [{ text: "Hello" }, { text: " there" }, { text: ", you." }];
  const finish = hasMore ? "tool_calls" : "stop";
  const said = wire.streamed({ pieces, finish, usage: fullCounts(wire.can) });
  return said.packets.map(String);
}

/** The reply comes to its end, and its end says what it is. */
async function expectBounded(caller: Caller, packets: readonly Bytes[]): Promise<void> {
  const { driver, wire } = caller.pair;
  const { headers } = wire.streamed({ pieces: [], finish: "stop" });
  stage.answer(caller.pair, framed({ headers, packets: [...packets, ""] }, { framing: "close" }));
  const response = await caller.send(
    { tools: driver.can.tools ? tools : [], cap: 500 },
    "streamed",
  );
  const text = await response.text();
  if (response.status !== 200) {
    expect([400, 429, 502, 503, 504]).toContain(response.status);
    expect(driver.fromError(JSON.parse(text)).code).toMatch(/^(upstream_|content|context)/);
    return;
  }
  expect(["good", "failed"]).toContain(verdictOf(text, driver.endMark));
  expect(text).toEndWith("\n\n");
}

const ourNames = [
  "x-request-id",
  "request-id",
  "x-svc-max-tokens",
  "idempotent-replayed",
  "x-ratelimit-remaining-requests",
  "access-control-allow-origin",
  "set-cookie",
  "link",
  "location",
  "openai-evil",
  "anthropic-evil",
];

/** Headers as bytes of Latin-1: names that we set ourselves, and values that would end a line. */
const evilHeads: Readonly<Record<string, readonly string[]>> = {
  "names of ours": [ourNames.map((name) => `${name}: evil`).join("\r\n")],
  "a bare CR": ["x-request-id: a\rx-evil: 1", "retry-after: 1\rx-evil: 1"],
  "a bare LF": ["x-request-id: a\nx-evil: 1", "retry-after: 1\nx-evil: 1"],
  "a folded line": ["x-request-id: a\r\n\tx-evil: 1", "retry-after: 1\r\n x-evil: 1"],
  "escaped line ends": ["retry-after: 1%0d%0ax-evil: 1", "retry-after-ms: 1\\r\\nx-evil: 1"],
  "odd bytes": [
    "x-request-id: \u0000evil\u0007\u007f",
    "retry-after: \u00ff\u00fe evil",
    "x-caf\u00e9: evil",
  ],
  "a content type with more in it": [
    "content-type: application/json; evil=\u00e9\u0001",
    "content-type: text/event-stream\rx-evil: 1",
  ],
  "numbers that cannot be": ["retry-after: 1e400", "retry-after-ms: -7", "retry-after: NaN evil"],
};

/** Heads are read in one place: each dialect needs one scene, natively where there is one. */
const headed = scenes.filter(({ driver, vendor, isNative }) =>
  driver.name === "chat" ? vendor.name === "compatible" : isNative,
);

for (const pair of headed)
  describe(`${sceneName(pair)}: of an upstream's headers, nothing reaches the caller`, () => {
    for (const [name, lines] of Object.entries(evilHeads))
      test(`with ${name}`, async () => {
        const caller = await stage.caller(pair);
        const { operations } = stage.gateway.server;
        let calls = 0;
        for (const line of lines)
          for (const form of forms)
            for (const said of [goodReply(pair, form), limited(pair, form)]) {
              stage.answer(pair, withLine(said, line));
              await expectOwnHead(await caller.send({ cap: 500 }, form));
              await operations.providers.reset({ name: pair.vendor.name });
              calls++;
            }
        expect(stage.calls.length).toBeGreaterThanOrEqual(calls);
        const receipts = await caller.payer.settled(calls);
        for (const { charged, hold } of receipts) expect(charged <= hold).toBe(true);
      });
  });

const goodReply = (pair: Pair, form: Form) =>
  reply(pair, form, {
    pieces: [{ text: "Hello" }],
    finish: "stop",
    usage: { input: 9, output: 2 },
  });

/** A refusal for which the vendor may name a time to wait. */
function limited({ wire }: Pair, form: Form): VendorReply {
  const said = wire.error("serverError", { words: "", streamed: form === "streamed" });
  if (said === undefined) throw new Error("the vendor never fails");
  return { ...said, status: 429 };
}

/** With one more line in its head, byte for byte. */
function withLine(said: VendorReply, line: string): Bytes {
  const { head, parts, end } = framed(said, { framing: "close" });
  const before = Buffer.from(head).subarray(0, -2);
  return Buffer.concat([before, Buffer.from(`${line}\r\n\r\n`, "latin1"), ...parts, end]);
}

/** Its head is made of what is ours, whatever became of the call. */
async function expectOwnHead(response: Response): Promise<void> {
  const { status, headers } = response;
  const text = await response.text();
  expect([200, 429, 502, 503]).toContain(status);
  expect(headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
  for (const [name, value] of headers) {
    expect(`${name}: ${value}`).not.toMatch(/evil|vendor/i);
    expect(value).toMatch(/^[\x20-\x7e]*$/);
  }
  for (const name of ["idempotent-replayed", "access-control-allow-origin", "set-cookie"])
    expect(headers.get(name)).toBeNull();
  const wait = headers.get("retry-after");
  if (wait !== null) expect(wait).toMatch(/^[1-9]\d*$/);
  if (status !== 200) expect(text).not.toContain("evil");
}
