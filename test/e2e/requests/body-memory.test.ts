/** Many bodies at once: how much the gateway holds of them, per key and in all. */

import { describe, expect, test } from "bun:test";
import { chatAnswers } from "../../fake/recordings.ts";
import { startTestGateway } from "../../setup/harness.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const gateway = useTestGateway();

const hello = { model: "svc-3-flash", messages: [{ role: "user", content: "hi" }] };
const withContent = (content: string) =>
  JSON.stringify({ ...hello, messages: [{ role: "user", content }] });
/** A chat with an image of so many bytes. */
const withImage = (sizeBytes: number) => {
  const url = `data:image/png;base64,${Buffer.alloc((sizeBytes / 4) * 3).toString("base64")}`;
  const content = [{ type: "image_url", image_url: { url } }];
  return JSON.stringify({ ...hello, messages: [{ role: "user", content }] });
};
const send = (body: BodyInit) => gateway.call("/chat/completions", "", { body });

describe("many bodies at once", () => {
  /** Sends headers and so many bytes of a body of 31 MB, and then nothing more. */
  function sendPart(bytes: number) {
    const opened = Promise.withResolvers<Bun.Socket<undefined>>();
    const replied = Promise.withResolvers<string>();
    let left = Buffer.alloc(bytes, " ");
    const push = (socket: Bun.Socket<undefined>) => {
      while (left.length > 0) {
        const written = socket.write(left);
        left = left.subarray(written);
        if (written === 0) return;
      }
    };
    const url = new URL(gateway.baseUrl);
    void Bun.connect({
      hostname: url.hostname,
      port: Number(url.port),
      socket: {
        open(socket) {
          socket.write(
            `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${gateway.key}\r\ncontent-type: application/json\r\ncontent-length: ${31 * 1024 * 1024}\r\n\r\n`,
          );
          push(socket);
          opened.resolve(socket);
        },
        drain: push,
        data: (_, data) => replied.resolve(data.toString()),
        close: () => replied.resolve(""),
      },
    });
    return { opened: opened.promise, replied: replied.promise };
  }

  test("of one key are refused when they are too many, and served when those have gone", async () => {
    const open = Array.from({ length: 3 }, () => sendPart(30 * 1024 * 1024));
    // Two of 31 MiB fit into what a key may send at once; the third does not.
    const reply = await Promise.race(open.map(({ replied }) => replied));
    expect(reply).toStartWith("HTTP/1.1 429 ");
    expect(reply).toContain("rate_limit_exceeded");
    expect(reply.toLowerCase()).toContain("retry-after");
    // A small one of the same key is served beside them.
    gateway.upstream.replyOnce(chatAnswers.plain());
    expect((await send(JSON.stringify(hello))).status).toBe(200);
    for (const { opened } of open) (await opened).end();
    await Promise.all(open.map(({ replied }) => replied));
    gateway.upstream.replyWith(chatAnswers.plain());
    const large = withImage(30 * 1024 * 1024);
    await waitUntil("a large one to be served", async () => (await send(large)).status === 200);
  });

  test("leave nothing behind when their calls have ended", async () => {
    const small = await startTestGateway({ environment: { SVC_MAX_BODIES_MB: "64" } });
    try {
      small.upstream.replyWith(chatAnswers.plain());
      const body = withImage(20 * 1024 * 1024);
      // Four of them one after the other are more than the gateway may hold at once.
      for (let at = 0; at < 4; at++)
        expect((await small.call("/chat/completions", body)).status).toBe(200);
    } finally {
      await small.stop();
    }
  });

  test("of one key that are admitted leave room for more of the same key", async () => {
    const gate = Promise.withResolvers<void>();
    const { bytes } = chatAnswers.plain();
    gateway.upstream.replyWith([{ until: gate.promise }, { send: bytes }]);
    const body = withImage(28 * 1024 * 1024);
    const calls: Promise<Response>[] = [];
    for (let at = 0; at < 3; at++) {
      const arrived = gateway.upstream.nextRequest();
      calls.push(send(body));
      await arrived;
    }
    gate.resolve();
    for (const call of calls) expect((await call).status).toBe(200);
  });

  test("in single bytes are gathered as they come", async () => {
    gateway.upstream.replyOnce(chatAnswers.plain());
    const bytes = new TextEncoder().encode(withContent("Grüße ".repeat(500)));
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at === bytes.length) return controller.close();
        controller.enqueue(bytes.subarray(at, ++at));
      },
    });
    expect((await send(body)).status).toBe(200);
    const [request] = gateway.upstream.requests;
    expect(request?.json).toMatchObject({
      messages: JSON.parse(new TextDecoder().decode(bytes)).messages,
    });
  });
});
