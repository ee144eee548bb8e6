import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { type Bytes, httpReply } from "../../fake/http/reply.ts";
import { ask, fullCounts, plainAnswer, plainCall, plainText } from "../calls.ts";
import { operatorKey } from "../dialect.ts";
import { apiErrorOf } from "../failure-of.ts";
import { expectLetGo, framed, type Stage } from "../stage.ts";

export function transportCases(stage: Stage): void {
  describe("what lies between us and the vendor", () => {
    redirectCases(stage);
    packedCases(stage);
    sizeCases(stage);
    manyCases(stage);
    if (stage.dialect.models !== undefined) listCases(stage);
  });
}

function redirectCases(stage: Stage): void {
  for (const status of [301, 302, 303, 307, 308])
    test(`a redirect of status ${status} is a failure, and nobody else is asked`, async () => {
      const headers = { location: `${stage.origin}/elsewhere` };
      stage.answer(httpReply({ status, headers, body: [], framing: "length" }));
      expect((await apiErrorOf(stage.chat(plainCall))).code).toBe("upstream_error");
      expect((await apiErrorOf(stage.hearStream(plainCall))).code).toBe("upstream_error");
      expect(stage.calls.map(({ path }) => path)).not.toContain("/elsewhere");
      expect(stage.calls).toHaveLength(2);
    });

  test("a vendor that is gone is unreachable", async () => {
    stage.answer([{ reset: true }]);
    for (const form of ["chat", "hearStream"] as const) {
      const { code, upstream, message } = await apiErrorOf(stage[form](plainCall));
      expect({ code, reason: upstream?.reason }).toEqual({
        code: "upstream_error",
        reason: "unreachable",
      });
      expect(message).not.toContain(new URL(stage.origin).host);
    }
  });
}

let packed: Buffer | undefined;
/** More than any reply may hold, in some 70 kB. */
const packedBlanks = () => (packed ??= gzipSync(Buffer.alloc(70 * 1024 * 1024, " ")));

function packedCases(stage: Stage): void {
  const { dialect } = stage;
  test("a packed reply is unpacked, although none was asked for", async () => {
    stage.answer(framed(dialect.whole(plainAnswer(dialect.can)), { gzip: true }));
    expect(await stage.chat(plainCall)).toMatchObject({ text: plainText, done: true });
    stage.answer(framed(dialect.streamed(plainAnswer(dialect.can)), { gzip: true }));
    expect(await stage.hearStream(plainCall)).toMatchObject({ text: plainText, done: true });
    for (const { headers } of stage.calls) expect(headers["accept-encoding"]).toBe("identity");
  });

  test("a small packed reply that grows too large is a failure", async () => {
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    stage.answer({ headers, packets: [packedBlanks()] });
    expect((await apiErrorOf(stage.chat(plainCall))).code).toBe("upstream_error");
  });
}

const block = Buffer.alloc(1024 * 1024, "a");

function sizeCases(stage: Stage): void {
  const opening = (type: string, body: Bytes) =>
    httpReply({ headers: { "content-type": type }, body: [body], framing: "close" }).bytes;

  test("a reply that never ends is left where it is too large", async () => {
    stage.answer([
      { send: opening("application/json", '{"a":"') },
      { flood: 256 * 1024 * 1024, chunk: block },
      { hang: true },
    ]);
    const arriving = stage.nextCall();
    expect((await apiErrorOf(stage.chat(plainCall))).code).toBe("upstream_error");
    const request = await expectLetGo(arriving);
    expect(request.bytesSent).toBeLessThan(128 * 1024 * 1024);
  });

  test("an event that never ends is left where it is too large", async () => {
    const { dialect } = stage;
    const { headers } = dialect.streamed(plainAnswer(dialect.can));
    stage.answer([
      { send: opening(headers["content-type"] ?? "", dialect.endlessOpening ?? "data: ") },
      { flood: 256 * 1024 * 1024, chunk: block },
      { hang: true },
    ]);
    const arriving = stage.nextCall();
    const { heard, failure } = await stage.listen(plainCall);
    expect(heard).toMatchObject({ text: "", done: false });
    expect((await apiErrorOf(Promise.reject(failure))).code).toBe("upstream_error");
    const request = await expectLetGo(arriving);
    expect(request.bytesSent).toBeLessThan(128 * 1024 * 1024);
  });
}

function manyCases(stage: Stage): void {
  test("of many calls at once, each hears its own answer", async () => {
    const { dialect } = stage;
    stage.answer((request) => {
      const { pieces, streamed } = dialect.asked(request);
      const [question] = pieces;
      const text = question !== undefined && "text" in question ? question.text : "";
      const answer = {
        pieces: [{ text: "You said: " }, { text }],
        finish: "stop",
        usage: { ...fullCounts(dialect.can), input: 100 + Number(text) },
      } as const;
      return streamed ? dialect.streamed(answer) : dialect.whole(answer);
    });
    const heard = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        at % 2 === 0 ? stage.chat(ask(`${at}`)) : stage.hearStream(ask(`${at}`)),
      ),
    );
    expect(heard.map(({ text, usage }) => [text, usage?.inputTokens])).toEqual(
      heard.map((_, at) => [`You said: ${at}`, 100 + at]),
    );
  });
}

function listCases(stage: Stage): void {
  const { dialect } = stage;
  const list = (ids: readonly string[]) => {
    const reply = dialect.models?.(ids);
    if (reply === undefined || stage.provider.listModels === undefined)
      throw new Error("it lists no models");
    stage.answer(reply);
    return stage.provider.listModels(new AbortController().signal);
  };

  test("its models are listed by the vendor's names", async () => {
    const ids = ["model-one", "model-two.5", "model-3"];
    expect((await list(ids)).map(({ id }) => id)).toEqual(ids);
    const [request] = stage.calls;
    expect(request?.method).toBe("GET");
    if (dialect.modelsPath !== undefined)
      expect(request?.path.split("?")[0]).toBe(dialect.modelsPath);
    expect(request && dialect.credential(request)).toBe(operatorKey);
  });

  test("no models are none, and very many are not all kept", async () => {
    expect(await list([])).toEqual([]);
    const many = Array.from({ length: 2_500 }, (_, at) => `model-${at}`);
    expect((await list(many)).map(({ id }) => id)).toEqual(many.slice(0, 2_000));
  });

  test("a list that is refused says why", async () => {
    const reply = dialect.error("badKey", { words: operatorKey, streamed: false });
    if (reply === undefined || stage.provider.listModels === undefined)
      throw new Error("it lists no models");
    stage.answer(reply);
    const error = await apiErrorOf(stage.provider.listModels(new AbortController().signal));
    expect([error.code, error.upstream?.reason]).toEqual(["upstream_unavailable", "auth"]);
    expect(`${error.message} ${error.detail}`).not.toContain(operatorKey);
  });

  test("a list that is left throws the reason for leaving", async () => {
    stage.answer([{ hang: true }]);
    const arriving = stage.nextCall();
    const leaving = new AbortController();
    const listing = stage.provider.listModels?.(leaving.signal).catch((error: unknown) => error);
    const request = await arriving;
    const reason = new Error("the operator left");
    leaving.abort(reason);
    expect(await listing).toBe(reason);
    await expectLetGo(request);
  });
}
