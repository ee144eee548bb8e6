/** Uploads are bodies like all others: what bounds those bounds them, and before they are read. */

import { beforeEach, describe, expect, test } from "bun:test";
import { transcriptionReplies } from "../../fake/recordings.ts";
import { fixtureBytes } from "../../fixtures/media/fixture.ts";
import { expectRefusal, refusalOf } from "../../replies/refusal.ts";
import { openPayer, type Payer } from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";
import { formOf, speechFile } from "./form.ts";

const manifest = `
providers:
  fake: { kind: openai, base_url: "UPSTREAM", api_key: "\${FAKE_KEY}", allow_private: true }
models:
  whisper: { endpoint: transcription, price: { audio_second: "0.0001" }, routes: [{ provider: fake, model: w }] }
`;
const gateway = useTestGateway({ manifest, environment: { SVC_MAX_BODIES_MB: "64" } });
beforeEach(() => gateway.upstream.replyWith(transcriptionReplies.asAsked));

const mebibyte = 1024 * 1024;

const send = ({ key }: Payer, file = speechFile()) =>
  fetch(`${gateway.baseUrl}/audio/transcriptions`, {
    method: "POST",
    body: formOf({ model: "whisper", file }),
    headers: { authorization: `Bearer ${key}` },
  });

function largeFile(): File {
  const wav = new Uint8Array(22 * mebibyte);
  wav.set(fixtureBytes("speech.wav").subarray(0, 40));
  return new File([wav], "large.wav");
}

/** Sends a head and some of a body, never its end; resolves with the start of the reply. */
function sendUnfinished({ key }: Payer, head: string, body = Buffer.alloc(0)): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let left = body;
  const push = (socket: Bun.Socket<undefined>) => {
    while (left.length > 0) {
      const written = socket.write(left);
      if (written <= 0) return;
      left = left.subarray(written);
    }
  };
  const { hostname, port } = new URL(gateway.baseUrl);
  Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open(socket) {
        socket.write(
          `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: multipart/form-data; boundary=b\r\n${head}\r\n\r\n`,
        );
        push(socket);
      },
      drain: push,
      data(socket, data) {
        resolve(data.toString());
        socket.end();
      },
      close: () => resolve(""),
    },
  }).catch(reject);
  return promise;
}

describe("bytes in flight", () => {
  test("of uploads count, for their account and for all, until their calls end", async () => {
    const gate = Promise.withResolvers<void>();
    const { bytes } = transcriptionReplies.json();
    gateway.upstream.replyWith([{ until: gate.promise }, { send: bytes }]);
    const payers = [await openPayer(gateway), await openPayer(gateway)];
    const held: Promise<Response>[] = [];
    for (const payer of payers) {
      const arrived = gateway.upstream.nextRequest();
      held.push(send(payer, largeFile()));
      await arrived;
    }
    const [first] = payers;
    if (first === undefined) throw new Error("nobody pays");
    await expectRefusal(send(first, largeFile()), {
      status: 429,
      code: "rate_limit_exceeded",
      message: expect.stringContaining("32 MiB of request bodies in flight"),
    });
    const third = await openPayer(gateway);
    await expectRefusal(send(third, largeFile()), { status: 503, code: "gateway_overloaded" });
    gate.resolve();
    for (const response of held) expect((await response).status).toBe(200);
    expect((await send(third, largeFile())).status).toBe(200);
    expect(gateway.upstream.requests).toHaveLength(3);
  });

  test("are free again when an upload is refused", async () => {
    const payer = await openPayer(gateway);
    const noise = () => new File([new Uint8Array(22 * mebibyte)], "noise.wav");
    for (let round = 0; round < 4; round++)
      await expectRefusal(send(payer, noise()), { status: 400, param: "file" });
    expect((await send(payer, largeFile())).status).toBe(200);
  });
});

describe("an upload", () => {
  test("of an account without money, or without its budget, is 402 before it is measured", async () => {
    const poor = await openPayer(gateway, { credit: 50_000n });
    const noise = new File([new Uint8Array(1000)], "noise.wav");
    await expectRefusal(send(poor, noise), { status: 402, code: "insufficient_quota" });
    const limited = await openPayer(gateway, { budget: "0.00005/day" });
    await expectRefusal(send(limited, noise), { status: 402, code: "budget_exceeded" });
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  test("beyond the requests per minute is 429 before it is read", async () => {
    const payer = await openPayer(gateway);
    await gateway.server.operations.keys.setLimits({ id: payer.keyId, rpm: "1" });
    expect((await send(payer)).status).toBe(200);
    await expectRefusal(send(payer), { status: 429, code: "rate_limit_exceeded" });
    const announced = `content-length: ${20 * mebibyte}`;
    expect(await sendUnfinished(payer, announced)).toStartWith("HTTP/1.1 429 ");
    expect(gateway.upstream.requests).toHaveLength(1);
  });

  test("larger than may be is 413: before it is read, or as soon as too much has come", async () => {
    const payer = await openPayer(gateway);
    const announced = await sendUnfinished(payer, `content-length: ${33 * mebibyte}`);
    expect(announced).toStartWith("HTTP/1.1 413 ");
    expect(announced).toContain("must not be larger than 32 MiB");
    // One chunk that is announced as larger than all that may come, of which only so much comes.
    const head = Buffer.from(`${(64 * mebibyte).toString(16)}\r\n`);
    const body = Buffer.concat([head, Buffer.alloc(33 * mebibyte)]);
    expect(await sendUnfinished(payer, "transfer-encoding: chunked", body)).toStartWith(
      "HTTP/1.1 413 ",
    );
  });

  test("that announces less than its form is cut there", async () => {
    const payer = await openPayer(gateway);
    const form = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper\r\n--b--';
    const cut = Buffer.from(form).subarray(0, 60);
    const reply = await sendUnfinished(payer, `content-length: ${cut.length}`, cut);
    expect(reply).toStartWith("HTTP/1.1 400 ");
    expect(reply).toContain("its last part has no end");
  });
});

describe("audio for the embedded recognizer", () => {
  const own = useTestGateway({
    environment: { SVC_ENGINE: "on" },
    manifest:
      'models: { svc-transcribe-1: { endpoint: transcription, price: { audio_second: "0.0001" }, routes: [{ provider: engine, model: svc-transcribe-1 }] } }',
  });

  test("that is longer than half an hour is 400, before the engine is asked", async () => {
    const wav = new Uint8Array(44 + 8_000 * 1_801);
    wav.set(fixtureBytes("speech.wav").subarray(0, 40));
    const view = new DataView(wav.buffer);
    // 8-bit samples, 8,000 of them per second.
    view.setUint32(24, 8_000, true);
    view.setUint16(32, 1, true);
    view.setUint16(34, 8, true);
    const refused = await refusalOf(
      fetch(`${own.baseUrl}/audio/transcriptions`, {
        method: "POST",
        body: formOf({ model: "svc-transcribe-1", file: new File([wav], "long.wav") }),
        headers: { authorization: `Bearer ${own.key}` },
      }),
    );
    expect(refused).toMatchObject({ status: 400, param: "file" });
    expect(refused.message).toContain("must not last longer than 1800 seconds");
  });
});
