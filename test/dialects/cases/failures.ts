/** What fails before an answer and within it, and callers who leave. */

import { describe, expect, test } from "bun:test";
import { cutAfter, pausedAfter } from "../../fake/script.ts";
import { plainAnswer } from "../../providers/calls.ts";
import type { ErrorClass, VendorReply } from "../../providers/dialect.ts";
import { framed, packetsUntil } from "../../providers/stage.ts";
import { BodyReader } from "../../replies/event-stream.ts";
import { leaver } from "../../setup/money-home.ts";
import { forms, reply, type Stage } from "../stage.ts";
import type { Pair } from "../vendors.ts";

export function failureCases(stage: Stage, pair: Pair): void {
  describe("what fails", () => {
    earlyCases(stage, pair);
    lateCases(stage, pair);
    leavingCases(stage, pair);
  });
}

const expected: Readonly<Partial<Record<ErrorClass, readonly [status: number, code: string]>>> = {
  badKey: [502, "upstream_unavailable"],
  overloaded: [503, "upstream_overloaded"],
  badRequest: [400, "upstream_rejected"],
  tooLong: [400, "context_length_exceeded"],
  blocked: [400, "content_filtered"],
  serverError: [502, "upstream_error"],
};

const secret = "words-of-the-operator";

function earlyCases(stage: Stage, pair: Pair): void {
  for (const [kind, [status, code]] of Object.entries(expected))
    for (const form of forms) {
      const options = { words: secret, streamed: form === "streamed" };
      const said = pair.wire.error(kind as ErrorClass, options);
      if (said === undefined) continue;
      test(`${form}: ${kind} is ${status} ${code}, and free`, async () => {
        const caller = await stage.caller(pair);
        stage.answer(pair, said);
        const refusal = await caller.refusal({}, form);
        // Anthropic has a status of its own for it.
        const own = pair.driver.name === "messages" && kind === "overloaded" ? 529 : status;
        expect({ status: refusal.status, code: refusal.code }).toEqual({ status: own, code });
        expect(refusal.message).not.toContain(secret);
        const { outcome, charged } = await caller.payer.receipt();
        expect({ outcome, charged }).toEqual({ outcome: code, charged: 0n });
      });
    }
}

/** The stream up to its first words, and nothing behind them. */
function begun({ wire }: Pair): { readonly said: VendorReply; readonly parts: number } {
  const said = wire.streamed(plainAnswer(wire.can));
  return { said, parts: packetsUntil(said, "Grüße") };
}

function lateCases(stage: Stage, pair: Pair): void {
  const { driver, wire } = pair;
  const { said, parts } = begun(pair);
  const fault = wire.fault("failed", secret);
  if (fault !== undefined)
    test("an error in the vendor's stream is an error in the caller's stream", async () => {
      const caller = await stage.caller(pair);
      stage.answer(pair, { ...said, packets: [...said.packets.slice(0, parts), fault] });
      const response = await caller.send({}, "streamed");
      const text = await response.text();
      expect(text).not.toContain(secret);
      expect(text).not.toContain(driver.endMark);
      const heard = driver.fromStream(text);
      expect(heard).toMatchObject({ text: "Grüße", isDone: false });
      expect(heard.error?.code).toMatch(/^upstream_/);
      const { outcome, charged } = await caller.payer.receipt();
      expect(outcome).toBe(heard.error?.code ?? "");
      expect(charged > 0n).toBe(true);
    });

  for (const by of ["reset", "close"] as const)
    test(`a stream that the vendor breaks off, by ${by}, never looks like a whole one`, async () => {
      const seen = Promise.withResolvers<void>();
      const caller = await stage.caller(pair);
      const recording = framed(said);
      stage.answer(pair, cutAfter({ recording, parts, by, until: seen.promise }));
      const body = new BodyReader(await caller.send({}, "streamed"));
      await body.until("Grüße");
      seen.resolve();
      const text = await body.rest();
      expect(text).not.toContain(driver.endMark);
      const heard = driver.fromStream(text);
      expect(heard).toMatchObject({ text: "Grüße", isDone: false });
      expect(heard.error?.code).toBe("upstream_error");
      expect((await caller.payer.receipt()).outcome).toBe("upstream_error");
    });

  test("a whole reply that the vendor breaks off is a failure, and free", async () => {
    const caller = await stage.caller(pair);
    const recording = framed(wire.whole(plainAnswer(wire.can)));
    stage.answer(pair, [
      { send: recording.bytes.subarray(0, recording.bytes.length - 20) },
      { close: true },
    ]);
    expect(await caller.refusal({}, "whole")).toMatchObject({
      status: 502,
      code: "upstream_error",
    });
    expect((await caller.payer.receipt()).charged).toBe(0n);
  });
}

function leavingCases(stage: Stage, pair: Pair): void {
  test("a disconnect before the first byte of a stream is free", async () => {
    const caller = await stage.caller(pair);
    stage.answer(pair, [{ hang: true }]);
    const arrived = stage.nextCall();
    const { signal, leave } = leaver();
    const call = caller.send({}, "streamed", { signal });
    call.catch(() => {});
    const request = await arrived;
    await leave(call);
    await request.closed;
    expect(request.abortedByClient).toBe(true);
    const { outcome, charged } = await caller.payer.receipt();
    expect({ outcome, charged }).toEqual({ outcome: "left", charged: 0n });
  });

  test("a caller who disconnects from a non-streamed reply pays for all of it", async () => {
    const caller = await stage.caller(pair);
    const gate = Promise.withResolvers<void>();
    const recording = framed(reply(pair, "whole", plainAnswer(pair.wire.can)));
    stage.answer(pair, pausedAfter({ recording, parts: 0, until: gate.promise }));
    const arrived = stage.nextCall();
    const { signal, leave } = leaver();
    const call = caller.send({}, "whole", { signal });
    call.catch(() => {});
    const request = await arrived;
    await leave(call);
    // A whole exchange later the gateway knows that the caller has gone; the hold stands.
    await fetch(`${stage.gateway.origin}/healthz`);
    gate.resolve();
    const { outcome, charged } = await caller.payer.receipt();
    expect(outcome).toBe("left");
    expect(charged > 0n).toBe(true);
    expect(request.abortedByClient).toBe(false);
  });
}
