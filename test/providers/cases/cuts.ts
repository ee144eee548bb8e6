import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../src/base/errors.ts";
import { httpChunk } from "../../fake/http/reply.ts";
import { byteByByte, cutAfter } from "../../fake/script.ts";
import {
  ask,
  clockCall,
  fullCounts,
  plainAnswer,
  plainCall,
  plainText,
  weatherCall,
  weatherTool,
} from "../calls.ts";
import type { Answer, ExpectedError, StreamFault } from "../dialect.ts";
import { PacketPlayer } from "../packet-player.ts";
import { bodyOf, Ear, framed, packetsUntil, type Stage } from "../stage.ts";
import { expectDiscreet, quoted } from "./discreet.ts";

export function cutCases(stage: Stage): void {
  describe("a stream that comes in pieces, or not to its end", () => {
    splitCases(stage);
    breakCases(stage);
    faultCases(stage);
    wholeCutCases(stage);
  });
}

/** Small, because every byte of it is cut at; with a character of four bytes. */
function smallAnswer({ dialect }: Stage): Answer {
  const { can } = dialect;
  const call = { ...clockCall, pieces: ['{"city"', ':"Ü"}'] };
  return can.tools
    ? { pieces: [{ text: "a👋" }, { call }], finish: "tool_calls", usage: fullCounts(can) }
    : { pieces: [{ text: "a👋" }, { text: "b" }], finish: "stop", usage: fullCounts(can) };
}

const toolCall = ask("Weather?", { tools: [weatherTool] });

function splitCases(stage: Stage): void {
  test("packets of one byte each say the same", async () => {
    const { reply, expected } = await heardWhole(stage);
    stage.answer(byteByByte(framed(reply, { framing: "close" })));
    expect(withoutIds(await stage.hearStream(toolCall))).toEqual(withoutIds(expected));
  });

  test("one packet that holds it all says the same", async () => {
    const { reply, expected } = await heardWhole(stage);
    stage.answer({ ...reply, packets: [bodyOf(reply)] });
    expect(withoutIds(await stage.hearStream(toolCall))).toEqual(withoutIds(expected));
  });
}

/** Of vendors without ids they are made up anew. */
function withoutIds<T extends { readonly ids: readonly string[] }>({ ids, ...heard }: T) {
  return { ...heard, ids: ids.length };
}

/** Far enough apart that an event is split once, if at all. */
const splitsAtOnce = 4;

/** Each byte is one to cut at: no socket is between, which would join packets and take far longer. */
export function walkCases(stage: Stage): void {
  describe("a reply that is cut at any byte", () => {
    test("split there, a stream says the same", async () => {
      const { reply, body, expected } = await heardWhole(stage);
      const { head, end } = framed(reply);
      using player = new PacketPlayer();
      const different: number[] = [];
      const strideBytes = Math.ceil(body.length / splitsAtOnce);
      for (let first = 1; first <= strideBytes; first += 1) {
        const packets: Uint8Array[] = [];
        for (let start = 0, stop = first; start < body.length; start = stop, stop += strideBytes)
          packets.push(httpChunk(body.subarray(start, stop)));
        player.play(head, [...packets, end]);
        const heard = await stage.hearStream(toolCall);
        if (!Bun.deepEquals(withoutIds(heard), withoutIds(expected))) different.push(first);
      }
      expect(different).toEqual([]);
    });

    test("ended there, a stream never looks like a whole answer", async () => {
      const { reply, body, expected } = await heardWhole(stage);
      const { head, end } = framed(reply);
      using player = new PacketPlayer();
      const wrong: { readonly at: number; readonly why: string }[] = [];
      for (let at = 0; at < body.length; at += 1) {
        player.play(head, [at === 0 ? end : Buffer.concat([httpChunk(body.subarray(0, at)), end])]);
        const { heard, failure } = await stage.listen(toolCall);
        const why = (text: string) => wrong.push({ at, why: text });
        if (failure !== undefined && !(failure instanceof ApiError))
          why(`threw ${String(failure)}`);
        if (heard.done && at < reply.wholeFromBytes) why("an end that was not told");
        if (heard.done && !Bun.deepEquals(withoutIds(heard), withoutIds(expected)))
          why("other words");
        if (!expected.text.startsWith(heard.text)) why(`said ${heard.text}`);
      }
      expect(wrong).toEqual([]);
      expect(reply.wholeFromBytes).toBeGreaterThan(body.length / 2);
      expect(reply.wholeFromBytes).toBeLessThanOrEqual(body.length);
    });

    test("ended there, a whole reply is a failure", async () => {
      const { can } = stage.dialect;
      const pieces = [{ text: plainText }, ...(can.tools ? [{ call: weatherCall }] : [])];
      const finish = can.tools ? "tool_calls" : "stop";
      const reply = stage.dialect.whole({ pieces, finish, usage: fullCounts(can) });
      stage.answer(reply);
      await stage.chat(toolCall);
      const body = bodyOf(reply);
      using player = new PacketPlayer();
      const codes = new Set<string>();
      for (let at = 0; at < body.length; at += 1) {
        const { head, parts } = framed({ ...reply, packets: [body.subarray(0, at)] });
        player.play(head, parts);
        const failure: unknown = await stage.chat(toolCall).catch((error: unknown) => error);
        codes.add(failure instanceof ApiError ? failure.code : `no ApiError at byte ${at}`);
      }
      expect([...codes]).toEqual(["upstream_error"]);
    });
  });
}

/** Over the network, so that the provider has signed in and knows what its vendor takes. */
async function heardWhole(stage: Stage) {
  const reply = stage.dialect.streamed(smallAnswer(stage));
  stage.answer(reply);
  const expected = await stage.hearStream(toolCall);
  expect(expected).toMatchObject({ done: true, usage: { inputTokens: 41 } });
  return { reply, body: bodyOf(reply), expected };
}

function breakCases(stage: Stage): void {
  for (const by of ["reset", "close"] as const)
    test(`a ${by} in mid-stream fails it, behind the words that came before`, async () => {
      const reply = stage.dialect.streamed(plainAnswer(stage.dialect.can));
      const heardFirst = Promise.withResolvers<void>();
      const parts = packetsUntil(reply, "Grüße");
      stage.answer(cutAfter({ recording: framed(reply), parts, by, until: heardFirst.promise }));
      const stream = await stage.streamChat(plainCall);
      const ear = new Ear();
      await ear.hearText(stream);
      heardFirst.resolve();
      const failure = await ear.drain(stream).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(ear.heard()).toMatchObject({ text: "Grüße", finish: undefined, done: false });
      // A reset is always seen; an end that was not announced may be, or leaves `done` out.
      if (by === "reset" || failure !== undefined) {
        if (!(failure instanceof ApiError)) throw new Error("no ApiError", { cause: failure });
        expect(failure.code).toBe("upstream_error");
        expect(failure.upstream?.reason).toBe("unreachable");
        expectDiscreet(stage, failure);
      }
    });

  for (const [at, packet] of stage.dialect.brokenPackets.entries())
    test(`a packet that cannot be read (${at + 1}) fails it, behind the words that came before`, async () => {
      const reply = stage.dialect.streamed(plainAnswer(stage.dialect.can));
      const before = packetsUntil(reply, "Grüße");
      const packets = reply.packets.toSpliced(before, 0, packet);
      for (const variant of [packets, [Buffer.concat(packets.map((one) => Buffer.from(one)))]]) {
        stage.answer({ ...reply, packets: variant });
        const { heard, failure } = await stage.listen(plainCall);
        expect(heard).toMatchObject({ text: "Grüße", finish: undefined, done: false });
        if (!(failure instanceof ApiError)) throw new Error("no ApiError", { cause: failure });
        expect(failure.code).toBe("upstream_error");
        expect(failure.upstream?.reason).toBe("failed");
        expectDiscreet(stage, failure);
      }
    });
}

const faults: Readonly<Record<StreamFault, ExpectedError>> = {
  failed: { code: "upstream_error", reason: "failed" },
  overloaded: { code: "upstream_overloaded", reason: "overloaded" },
  limited: { code: "upstream_rate_limited", reason: "limited" },
};

function faultCases(stage: Stage): void {
  for (const kind of ["failed", "overloaded", "limited"] as const) {
    if (stage.dialect.fault(kind, "") === undefined) continue;
    for (const place of ["first", "middle"] as const)
      test(`a failure (${kind}) told ${place === "first" ? "before the first word" : "in mid-stream"} is that failure`, async () => {
        const reply = stage.dialect.streamed(plainAnswer(stage.dialect.can));
        const before = place === "first" ? 0 : packetsUntil(reply, "Grüße");
        const packet = stage.dialect.fault(kind, quoted(stage)) ?? "";
        stage.answer({ ...reply, packets: [...reply.packets.slice(0, before), packet] });
        const { heard, failure } = await stage.listen(plainCall);
        expect(heard).toMatchObject({ text: place === "first" ? "" : "Grüße", done: false });
        if (!(failure instanceof ApiError)) throw new Error("no ApiError", { cause: failure });
        expect<ExpectedError>({
          code: failure.code,
          reason: failure.upstream?.reason,
        }).toEqual(faults[kind]);
        expectDiscreet(stage, failure);
      });
  }
}

function wholeCutCases(stage: Stage): void {
  test("a whole reply whose connection ends before its length is a failure", async () => {
    const { head, parts } = framed(stage.dialect.whole(plainAnswer(stage.dialect.can)));
    const body = Buffer.concat(parts);
    stage.answer([{ send: Buffer.concat([head, body.subarray(0, -9)]) }, { close: true }]);
    const failure: unknown = await stage.chat(plainCall).catch((error: unknown) => error);
    expect(failure instanceof ApiError && failure.code).toBe("upstream_error");
  });
}
