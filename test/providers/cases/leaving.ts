import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../src/base/errors.ts";
import { pausedAfter, type Script } from "../../fake/script.ts";
import type { RecordedRequest } from "../../fake/upstream.ts";
import { plainAnswer, plainCall } from "../calls.ts";
import { failureOf } from "../failure-of.ts";
import { Ear, expectLetGo, framed, packetsUntil, type Stage } from "../stage.ts";

/** Told apart from all else by being the very same object. */
class CallerLeft extends Error {}

export function leavingCases(stage: Stage): void {
  describe("when the caller leaves", () => {
    beforeAnswerCases(stage);
    midAnswerCases(stage);
    cancelCases(stage);
  });
}

const forms = ["whole", "streamed"] as const;

/** The call fails with the very reason for which its caller leaves, and its upstream is let go. */
async function expectLeft(
  leaving: AbortController,
  thrown: Promise<unknown>,
  request: RecordedRequest | Promise<RecordedRequest>,
): Promise<void> {
  const reason = new CallerLeft();
  leaving.abort(reason);
  expect(await thrown).toBe(reason);
  await expectLetGo(request);
}

function beforeAnswerCases(stage: Stage): void {
  for (const form of forms) {
    const begin = (signal: AbortSignal) =>
      failureOf(
        form === "whole"
          ? stage.chat(plainCall, { signal })
          : stage.hearStream(plainCall, { signal }),
      );

    test(`${form}: before the call, its reason is thrown and nothing is sent`, async () => {
      stage.answer(stage.dialect[form](plainAnswer(stage.dialect.can)));
      const reason = new CallerLeft();
      expect(await begin(AbortSignal.abort(reason))).toBe(reason);
      expect(stage.calls).toEqual([]);
    });

    test(`${form}: before the upstream answers, its reason is thrown and the upstream let go`, async () => {
      stage.answer([{ hang: true }]);
      const arriving = stage.nextCall();
      const leaving = new AbortController();
      const thrown = begin(leaving.signal);
      const request = await arriving;
      await expectLeft(leaving, thrown, request);
    });

    test(`${form}: in the middle of an error's body, its reason is thrown`, async () => {
      const reply = stage.dialect.error("serverError", {
        words: "",
        streamed: form === "streamed",
      });
      if (reply === undefined) throw new Error("every vendor has server errors");
      const { head, parts } = framed(reply);
      stage.answer([
        { send: Buffer.concat([head, Buffer.concat(parts).subarray(0, 5)]) },
        { hang: true },
      ]);
      const arriving = stage.nextCall();
      const leaving = new AbortController();
      const thrown = begin(leaving.signal);
      const request = await arriving;
      // Nothing tells when the head was read; whichever of the two was first, the reason counts.
      while (request.bytesSent === 0) await new Promise(setImmediate);
      await new Promise(setImmediate);
      await expectLeft(leaving, thrown, request);
    });
  }
}

function midAnswerCases(stage: Stage): void {
  test("whole: in the middle of the body, its reason is thrown and the upstream let go", async () => {
    const { head, parts } = framed(stage.dialect.whole(plainAnswer(stage.dialect.can)));
    stage.answer([
      { send: Buffer.concat([head, Buffer.concat(parts).subarray(0, 9)]) },
      { hang: true },
    ]);
    const arriving = stage.nextCall();
    const leaving = new AbortController();
    const accepted = Promise.withResolvers<void>();
    const thrown = failureOf(
      stage.chat(plainCall, { signal: leaving.signal, onAccepted: accepted.resolve }),
    );
    const request = await arriving;
    await accepted.promise;
    await expectLeft(leaving, thrown, request);
  });

  test("streamed: in mid-stream, its reason is thrown and the upstream let go", async () => {
    stage.answer(pausedStream(stage));
    const arriving = stage.nextCall();
    const leaving = new AbortController();
    const stream = await stage.streamChat(plainCall, { signal: leaving.signal });
    const ear = new Ear();
    await ear.hearText(stream);
    const thrown = failureOf(ear.drain(stream));
    await expectLeft(leaving, thrown, arriving);
    expect(ear.heard()).toMatchObject({ text: "Grüße", done: false });
  });
}

function cancelCases(stage: Stage): void {
  for (const when of ["before the first word", "in mid-stream"])
    test(`a stream that is cancelled ${when} lets the upstream go`, async () => {
      stage.answer(pausedStream(stage));
      const arriving = stage.nextCall();
      const stream = await stage.streamChat(plainCall);
      if (when === "in mid-stream") await new Ear().hearText(stream);
      stream.cancel();
      await expectLetGo(arriving);
    });

  test("a stream that is cancelled while it is read ends without a failure", async () => {
    stage.answer(pausedStream(stage));
    const stream = await stage.streamChat(plainCall);
    await new Ear().hearText(stream);
    const reading = stream.read();
    stream.cancel();
    expect(await reading).toBeUndefined();
  });

  test("a stream that failed lets the upstream go, which may talk on", async () => {
    const { dialect } = stage;
    const [broken] = dialect.brokenPackets;
    if (broken === undefined) throw new Error("every vendor can be misread");
    const { headers, packets } = dialect.streamed(plainAnswer(dialect.can));
    const { head, parts } = framed({ headers, packets: [broken, ...packets] });
    stage.answer([{ send: Buffer.concat([head, ...parts]) }, { hang: true }]);
    const arriving = stage.nextCall();
    const { failure } = await stage.listen(plainCall);
    expect(failure).toBeInstanceOf(ApiError);
    await expectLetGo(arriving);
  });

  test("a stream may be cancelled after its end, and twice", async () => {
    stage.answer(stage.dialect.streamed(plainAnswer(stage.dialect.can)));
    const stream = await stage.streamChat(plainCall);
    await new Ear().drain(stream);
    stream.cancel();
    stream.cancel();
    expect(await stream.read()).toBeUndefined();
  });
}

/** Says its first word, and then nothing more. */
function pausedStream(stage: Stage): Script {
  const reply = stage.dialect.streamed(plainAnswer(stage.dialect.can));
  const parts = packetsUntil(reply, "Grüße");
  return pausedAfter({ recording: framed(reply), parts, until: new Promise(() => {}) });
}
