/** What an Idempotency-Key means when callers leave, servers end and disks are read by others. */

import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { createDecipheriv, createHmac } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../../../src/app/server.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import type { LedgerWrite } from "../../../src/ledger/store.ts";
import { chatJson, chatStreams, speechReplies } from "../../fake/recordings.ts";
import { pausedAfter } from "../../fake/script.ts";
import { BodyReader, type ErrorBody } from "../../replies/event-stream.ts";
import { aroundCommits } from "../../setup/commits.ts";
import {
  clockAt,
  heldCall,
  hello,
  leaver,
  openPayer,
  type Payer,
  type TestClock,
} from "../../setup/money-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

/** Every commit of the ledger, as it begins; `before` may keep it waiting. */
const commits: (readonly LedgerWrite[])[] = [];
let before: (writes: readonly LedgerWrite[]) => Promise<void> | void = () => {};
const durable: LedgerWrite[] = [];

const clock: TestClock = clockAt("2027-03-01T12:00:00Z");
const gateway = useTestGateway({
  clock,
  open: aroundCommits((commit) => async (writes) => {
    commits.push(writes);
    await before(writes);
    await commit(writes);
    durable.push(...writes);
  }),
});
beforeEach(() => {
  commits.length = 0;
  durable.length = 0;
  before = () => {};
});

let payer: Payer;
beforeEach(async () => {
  payer = await openPayer(gateway);
});

const keyed = (key: string) => ({ headers: { "idempotency-key": key } });
const isClaim = ({ type }: LedgerWrite) => type === "claim";

/** A receipt can be read a moment before the call that it is of has ended: until then it runs. */
async function afterwards(call: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await call();
    if (response.status !== 409) return response;
    const { error } = (await response.clone().json()) as ErrorBody;
    if (error.code !== "idempotency_in_progress") return response;
  }
}

describe("what is written", () => {
  test("nothing reaches an upstream before the claim is durable", async () => {
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    before = (writes) => {
      if (!writes.some(isClaim)) return undefined;
      begun.resolve();
      return gate.promise;
    };
    gateway.upstream.replyWith(chatJson());
    const call = payer.chat({ seed: 7 }, keyed("claimed"));
    await begun.promise;
    // Another call reaches the upstream meanwhile: time enough for this one to have gone, too.
    const arrived = gateway.upstream.nextRequest();
    const other = payer.chat({ seed: 8 });
    await arrived;
    expect(gateway.upstream.requests.map(({ json }) => json)).toEqual([
      expect.objectContaining({ seed: 8 }),
    ]);
    let wasDurable = false;
    gateway.upstream.replyWith(() => {
      wasDurable = durable.some(isClaim);
      return chatJson();
    });
    gate.resolve();
    expect([(await call).status, (await other).status]).toEqual([200, 200]);
    expect(wasDurable).toBe(true);
    expect(gateway.upstream.requests.length).toBe(2);
  });

  test("the receipt, the reply and the end of the claim are one write", async () => {
    gateway.upstream.replyOnce(chatJson());
    const { headers } = await payer.chat({}, keyed("together"));
    const id = headers.get("x-request-id") ?? "";
    const writes = commits.flat();
    expect(writes.map(({ type }) => type)).toEqual(["claim", "receipt"]);
    const [claim, receipt] = writes;
    if (claim?.type !== "claim" || receipt?.type !== "receipt") throw new Error("other writes");
    expect({ ...claim.claim }).toMatchObject({ requestId: id, isDone: false });
    expect(claim.claim.reply).toBeUndefined();
    expect(receipt.receipt.id).toBe(id);
    expect({ ...receipt.claim }).toMatchObject({
      id: claim.claim.id,
      bodyHash: claim.claim.bodyHash,
      requestId: id,
      isDone: true,
      reply: expect.any(Uint8Array),
    });
  });

  test("a request without the header claims nothing", async () => {
    gateway.upstream.replyOnce(chatJson());
    await (await payer.chat()).json();
    expect(commits.flat().map((write) => [write.type, "claim" in write && write.claim])).toEqual([
      ["receipt", undefined],
    ]);
  });
});

describe("a caller who leaves", () => {
  test("a whole reply: the call goes on, and who asks again gets it, paid once", async () => {
    const gate = Promise.withResolvers<void>();
    gateway.upstream.replyOnce([
      { until: gate.promise },
      { send: chatJson({ text: "still here" }).bytes },
    ]);
    const { signal, leave } = leaver();
    const arrived = gateway.upstream.nextRequest();
    const call = payer.chat({}, { ...keyed("left"), signal });
    const request = await arrived;
    await leave(call);
    // The same again is told to wait: so the gateway has noticed nothing that ends the call.
    expect((await payer.chat({}, keyed("left"))).status).toBe(409);
    gate.resolve();
    const { id, charged, outcome } = await payer.receipt();
    expect({ outcome, isPaid: charged > 0n }).toEqual({ outcome: "ok", isPaid: true });
    expect(request.abortedByClient).toBe(false);
    const again = await afterwards(() => payer.chat({}, keyed("left")));
    expect(again.headers.get("x-original-request-id")).toBe(id);
    expect(await again.text()).toContain("still here");
    expect(gateway.upstream.requests.length).toBe(1);
    await payer.settled(1);
  });

  test("a stream that has not begun: the call ends, free, and the key may be used again", async () => {
    gateway.upstream.replyOnce([{ hang: true }]);
    const { signal, leave } = leaver();
    const arrived = gateway.upstream.nextRequest();
    const call = payer.chat({ stream: true }, { ...keyed("early"), signal });
    const request = await arrived;
    await leave(call);
    await request.closed;
    expect(request.abortedByClient).toBe(true);
    expect(await payer.receipt()).toMatchObject({ outcome: "left", charged: 0n });
    gateway.upstream.replyOnce(chatStreams.openai());
    const again = await afterwards(() => payer.chat({ stream: true }, keyed("early")));
    expect(await again.text()).toEndWith("data: [DONE]\n\n");
  });

  for (const [what, path, body, recording] of [
    ["a stream", "/chat/completions", { ...hello, stream: true }, chatStreams.openai()],
    [
      "audio",
      "/audio/speech",
      { model: "svc-2.5-flash-tts", input: "Hello", voice: "Kore" },
      speechReplies.pcmChunked(),
    ],
  ] as const)
    test(`${what}: pays for what was sent, and the key is used up`, async () => {
      const until = new Promise<never>(() => {});
      gateway.upstream.replyOnce(pausedAfter({ recording, parts: 3, until }));
      const { signal, leave } = leaver();
      const response = await payer.call(path, body, { ...keyed("gone"), signal });
      await new BodyReader(response).until(path === "/audio/speech" ? "RIFF" : "Hello");
      await leave(Promise.resolve());
      const { id, charged, outcome } = await payer.receipt();
      expect({ outcome, isPaid: charged > 0n }).toEqual({ outcome: "left", isPaid: true });
      const again = await afterwards(() => payer.call(path, body, keyed("gone")));
      expect(again.headers.get("x-original-request-id")).toBe(id);
      expect(await again.json()).toMatchObject({ error: { code: "idempotency_reply_not_kept" } });
      await payer.settled(1);
    });
});

describe("another server on the same data", () => {
  const files = ["svc.db", "svc.db-wal", "secret", "svc.yaml"];

  /** A server on a copy of the files as they are now, as if this one had died. */
  async function onCopy(
    use: (baseUrl: string) => Promise<void>,
    after: (databasePath: string) => void = () => {},
  ): Promise<void> {
    const dataDir = mkdtempSync(join(tmpdir(), "svc-e2e-copy-"));
    for (const name of files)
      if (existsSync(join(gateway.dataDir, name)))
        copyFileSync(join(gateway.dataDir, name), join(dataDir, name));
    const server = await startServer({
      version: "0.0.0-test",
      clock,
      configuration: loadConfiguration({
        SVC_PORT: "0",
        SVC_PLATFORM_PORT: "0",
        SVC_DATA_DIR: dataDir,
        SVC_CONFIG: join(dataDir, "svc.yaml"),
        SVC_LOG_LEVEL: "silent",
        SVC_ENGINE: "off",
        FAKE_KEY: "vendor-secret",
      }),
    });
    try {
      await use(`${server.gatewayUrl}/v1`).finally(() => server.stop());
      after(join(dataDir, "svc.db"));
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }

  const post = (baseUrl: string, key: string, header: string) =>
    fetch(`${baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "idempotency-key": header },
      body: JSON.stringify(hello),
    });

  test("gives the reply that is kept again", async () => {
    gateway.upstream.replyOnce(chatJson({ text: "from before" }));
    const first = await payer.chat({}, keyed("restart"));
    const text = await first.text();
    await onCopy(async (baseUrl) => {
      const again = await post(baseUrl, payer.key, "restart");
      expect(await again.text()).toBe(text);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expect(again.headers.get("x-original-request-id")).toBe(first.headers.get("x-request-id"));
    });
    expect(gateway.upstream.requests.length).toBe(1);
  });

  test("makes a call anew that was under way when the other died", async () => {
    const first = await heldCall(gateway, () => payer.chat({}, keyed("died")));
    await onCopy(async (baseUrl) => {
      gateway.upstream.replyOnce(chatJson({ text: "second try" }));
      const again = await post(baseUrl, payer.key, "died");
      expect(again.headers.get("idempotent-replayed")).toBeNull();
      expect(await again.text()).toContain("second try");
    });
    await (await first.answer()).json();
  });

  test("erases what has been kept for a day, from the file, too", async () => {
    gateway.upstream.replyOnce(chatJson());
    await (await payer.chat({}, keyed("erased"))).json();
    const written = commits.flat().find(({ type }) => type === "receipt");
    const reply = written?.type === "receipt" ? written.claim?.reply : undefined;
    if (reply === undefined) throw new Error("no reply was kept");
    clock.set("2027-03-02T12:00:00Z");
    await onCopy(
      async () => {},
      (path) => {
        const database = new Database(path);
        const claims = database.query("select id from claims").all();
        // All of the log goes to the database, as it would sooner or later.
        database.run("PRAGMA wal_checkpoint(TRUNCATE)");
        database.close();
        expect(claims).toEqual([]);
        expect(readFileSync(path).includes(Buffer.from(reply))).toBe(false);
      },
    );
    clock.set("2027-03-01T12:00:00Z");
  });
});

describe("who has the files", () => {
  const prompt = "a prompt of nobody's business";
  const answer = "an answer of nobody's business";
  const header = "a-header-of-nobodys-business";

  async function keep() {
    const payer = await openPayer(gateway);
    gateway.upstream.replyOnce(chatJson({ text: answer }));
    const messages = [{ role: "user", content: prompt }];
    const reply = await (await payer.chat({ messages }, keyed(header))).text();
    const written = commits.flat().find(({ type }) => type === "receipt");
    const claim = written?.type === "receipt" ? written.claim : undefined;
    if (claim?.reply === undefined) throw new Error("no reply was kept");
    return { payer, reply, id: claim.id, sealed: Buffer.from(claim.reply) };
  }

  /** Opens what is kept with the key that a secret gives. */
  function openWith(secret: Uint8Array | string, id: string, sealed: Buffer): string {
    const key = createHmac("sha256", secret).update("idempotent replies v1").digest();
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12))
      .setAAD(Buffer.from(id))
      .setAuthTag(sealed.subarray(12, 28));
    return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString();
  }

  test("finds neither prompt, nor reply, nor key, nor header in them", async () => {
    const { payer, sealed } = await keep();
    const names = readdirSync(gateway.dataDir).filter((name) => name.startsWith("svc.db"));
    expect(names).toContain("svc.db-wal");
    const bytes = Buffer.concat(names.map((name) => readFileSync(join(gateway.dataDir, name))));
    // It is there, only closed.
    expect(bytes.includes(sealed.subarray(0, 64))).toBe(true);
    for (const text of [prompt, answer, header, payer.key])
      expect({ text, isFound: bytes.includes(text) }).toEqual({ text, isFound: false });
  });

  test("cannot open a reply with the master secret; the caller's key alone does", async () => {
    const { payer, reply, id, sealed } = await keep();
    const master = readFileSync(join(gateway.dataDir, "secret"), "utf8").trim();
    const { secrets } = gateway.server.opened;
    for (const secret of [master, Buffer.from(master, "hex"), secrets.keyHashKey])
      expect(() => openWith(secret, id, sealed)).toThrow();
    for (const place of ["", id, "idempotent replies v1", `claim ${header}`])
      expect(() => secrets.open(sealed.toString("base64"), place)).toThrow();
    expect(openWith(payer.key, id, sealed)).toBe(`application/json\n${reply}`);
    // Nor does a reply pass for that of another claim.
    expect(() => openWith(payer.key, "0".repeat(64), sealed)).toThrow();
  });
});
