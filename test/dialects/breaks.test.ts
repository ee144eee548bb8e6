/** Calls that end before the upstream has counted, in every dialect: what is charged, and what is shown. */

import { describe, expect, test } from "bun:test";
import { replyStatus } from "../../src/ledger/reply-status.ts";
import { cutAfter } from "../fake/script.ts";
import type { VendorReply } from "../providers/dialect.ts";
import { framed, packetsUntil } from "../providers/stage.ts";
import { BodyReader } from "../replies/event-stream.ts";
import { countTokens, helloMost, leaver } from "../setup/money-home.ts";
import { costOf } from "./cases/words.ts";
import { type Caller, Stage } from "./stage.ts";
import { type Pair, prices, sceneName, scenes, twinOf } from "./vendors.ts";

// Calls of other files would teach the gateway which models hide their thoughts.
const stage = new Stage({});
const words = Array.from({ length: 6 }, (_, at) => ` word${at}`);
const lastWord = " word5";
/** The vendor counts at the end, which does not come. */
const saidBy = ({ wire }: Pair) =>
  wire.streamed({
    pieces: words.map((text) => ({ text })),
    finish: "stop",
    usage: { input: 9, output: 12 },
  });

/** What the list of calls, the receipt and the caller have as the status of the one call. */
async function statusesOf(caller: Caller) {
  const receipt = await caller.payer.receipt();
  const [call] = await stage.gateway.server.operations.calls.list({ account: caller.payer.id });
  return { listed: call?.status, onReceipt: replyStatus(receipt) ?? null, receipt };
}

/** The first packets of the vendor, and then nothing until the caller has left. */
async function leaveAfter(pair: Pair, said: VendorReply, heard: string) {
  const caller = await stage.caller(pair);
  const recording = framed(said);
  const parts = heard === "" ? 0 : packetsUntil(said, heard);
  stage.answer(pair, cutAfter({ recording, parts, by: "hang" }));
  const arrived = stage.nextCall();
  const { signal, leave } = leaver();
  const model = twinOf(pair.vendor);
  const call = caller.send({ cap: 100, model }, "streamed", { signal });
  const request = await arrived;
  if (heard !== "") await new BodyReader(await call).until(heard);
  await leave(call);
  await request.closed;
  expect(request.abortedByClient).toBe(true);
  return caller;
}

for (const pair of scenes)
  describe(sceneName(pair), () => {
    test("a stream closed by the caller keeps the status that it started with", async () => {
      const caller = await leaveAfter(pair, saidBy(pair), lastWord);
      const { listed, onReceipt, receipt } = await statusesOf(caller);
      expect({ listed, onReceipt }).toEqual({ listed: 200, onReceipt: 200 });
      expect(receipt.outcome).toBe("left");
    });

    test("a stream closed before the first word has no status and no charge for output", async () => {
      const caller = await leaveAfter(pair, saidBy(pair), "");
      const { listed, onReceipt, receipt } = await statusesOf(caller);
      expect({ listed, onReceipt }).toEqual({ listed: null, onReceipt: null });
      const { outcome, units, charged } = receipt;
      const { input = 0, output = 0 } = units;
      expect({ outcome, output }).toEqual({ outcome: "left", output: 0 });
      expect(input).toBeLessThanOrEqual(helloMost);
      expect(charged).toBe(costOf({ input, output }));
    });

    test("an upstream that breaks off before its count costs the words that went out", async () => {
      const caller = await stage.caller(pair);
      const said = saidBy(pair);
      const gate = Promise.withResolvers<void>();
      const parts = packetsUntil(said, lastWord);
      const broken = { recording: framed(said), parts, until: gate.promise };
      stage.answer(pair, cutAfter({ ...broken, by: "reset" }));
      const body = new BodyReader(await caller.send({ cap: 100 }, "streamed"));
      await body.until(lastWord);
      gate.resolve();
      const heard = pair.driver.fromStream(await body.rest());
      expect(heard).toMatchObject({ text: words.join(""), isDone: false });
      const { listed, onReceipt, receipt } = await statusesOf(caller);
      expect({ listed, onReceipt }).toEqual({ listed: 200, onReceipt: 200 });
      const { outcome, units, charged, hold, estimated } = receipt;
      const { input = 0, output = 0 } = units;
      expect({ outcome, estimated }).toEqual({ outcome: "upstream_error", estimated: true });
      // Before the thread that counts has started, the count is an estimate by length.
      expect(output).toBeGreaterThan(0);
      expect(output).toBeLessThanOrEqual(countTokens(words.join("")) * 2);
      expect(charged).toBe(costOf({ input, output }));
      expect(charged <= hold && charged >= BigInt(output) * prices.output).toBe(true);
    });
  });
