import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { httpReply } from "../../../test/fake/http/reply.ts";
import { type FakeUpstream, startFakeUpstream } from "../../../test/fake/upstream.ts";
import { apiErrorOf } from "../../../test/providers/failure-of.ts";
import { expectLetGo } from "../../../test/providers/stage.ts";
import { Dialer } from "./dial.ts";
import { baseHeaders, send } from "./http.ts";
import { FetchReply, readReply } from "./reply.ts";

let upstream: FakeUpstream;
beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(() => upstream.stop());
beforeEach(() => upstream.reset());

function ask(signal = new AbortController().signal) {
  const pin = new Dialer({ provider: "acme", allowPrivate: true }).pin(upstream.baseUrl);
  const headers = baseHeaders(pin);
  return send({ provider: "acme", pin, path: "/v1/x", headers, body: "{}", signal });
}

const packings = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  "X-GZip": gzipSync,
};

for (const [name, pack] of Object.entries(packings))
  test(`a reply that came packed all the same is unpacked: ${name}`, async () => {
    const body = [pack(Buffer.from('{"ok":true}'))];
    const headers = { "content-type": "application/json", "content-encoding": name };
    upstream.replyOnce(httpReply({ headers, body, framing: "length" }));
    expect(await readReply(await ask())).toEqual({ ok: true });
  });

const mib = 1024 * 1024;

/** So many MiB of blanks, then an object; and how much of it was taken. */
function large(sizeMib: number, headers: Record<string, string>) {
  const state = { takenMib: 0 };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (state.takenMib++ < sizeMib) controller.enqueue(new Uint8Array(mib).fill(32));
        else {
          controller.enqueue(new TextEncoder().encode("{}"));
          controller.close();
        }
      },
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(body, { headers }), state };
}

for (const [name, headers] of [
  ["whose length is told", { "content-length": String(20 * mib + 2) }],
  ["whose length is not told", {}],
  ["whose length is no number", { "content-length": "a lot" }],
] as const)
  test(`a reply ${name} is read no further than 16 MiB`, async () => {
    const { response, state } = large(20, headers);
    await expect(readReply(new FetchReply(response))).rejects.toThrow(RangeError);
    expect(state.takenMib).toBeLessThanOrEqual(18);
  });

test("a reply within the bound is read whole, whether its length is told or not", async () => {
  expect(
    await readReply(new FetchReply(large(3, { "content-length": String(3 * mib + 2) }).response)),
  ).toEqual({});
  expect(await readReply(new FetchReply(large(3, {}).response))).toEqual({});
});

test("a reply in single bytes is read whole", async () => {
  const text = JSON.stringify({ text: "x".repeat(50_000) });
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at === text.length) controller.close();
      else controller.enqueue(new TextEncoder().encode(text[at++]));
    },
  });
  expect(await readReply(new FetchReply(new Response(body)))).toEqual(JSON.parse(text));
});

test("a reply that is nested without end is not parsed, whether its length is told or not", async () => {
  const deep = `${"[".repeat(12_000)}${"]".repeat(12_000)}`;
  for (const headers of [{ "content-length": String(deep.length) }, {}])
    expect(
      readReply(new FetchReply(new Response(new Blob([deep]).stream(), { headers }))),
    ).rejects.toThrow(RangeError);
});

test("an error whose body does not come is judged by its status, and its connection is let go", async () => {
  const { head } = httpReply({ status: 503, body: ["x".repeat(100)], framing: "length" });
  const arrived = upstream.nextRequest();
  upstream.replyOnce([{ send: head }, { send: '{"error": {"code": "half' }, { hang: true }]);
  const { setTimeout: startTimer } = globalThis;
  // The time that a body has is over at once.
  const timers = spyOn(globalThis, "setTimeout").mockImplementation(((
    work: () => void,
    ms: number,
  ) => startTimer(work, ms === 2_000 ? 0 : ms)) as typeof setTimeout);
  const error = await apiErrorOf(ask()).finally(() => timers.mockRestore());
  expect(error.code).toBe("upstream_overloaded");
  await expectLetGo(arrived);
});
