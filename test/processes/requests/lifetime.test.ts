import { beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { OpenAI } from "openai";
import { chatJson, chatStreams, embeddingsReply, speechReplies } from "../../fake/recordings.ts";
import { cutAfter, pausedAfter } from "../../fake/script.ts";
import { type ChildServer, type Environment } from "../../setup/child.ts";
import { standardManifest } from "../../setup/harness.ts";
import { useHome } from "../../setup/use-home.ts";
import { useFakeUpstream } from "../../setup/use-upstream.ts";

const chat = { model: "svc-3-flash", messages: [{ role: "user" as const, content: "Hi" }] };

const upstream = await useFakeUpstream();
const home = useHome();

beforeEach(() => {
  upstream.reset();
  home.writeConfig(standardManifest.replaceAll("UPSTREAM", upstream.baseUrl));
});

const serve = (environment: Environment = {}) => home.serve({ FAKE_KEY: "x", ...environment });
/** In a process of its own, whose end cuts what it has not sent. */
const serveApart = () => home.serve({ FAKE_KEY: "x" }, { isProcess: true });
const clientOf = ({ baseUrl, key = "" }: ChildServer) =>
  new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 });

/** Asks to stop, and comes back when no new connection is taken any more. */
async function beginStop(server: ChildServer): Promise<void> {
  server.signal("SIGTERM");
  await server.waitForLog("stopping");
  const { port } = new URL(server.origin);
  const isRefused = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1", () => {
        socket.destroy();
        resolve(false);
      });
      socket.once("error", () => resolve(true));
    });
  while (!(await isRefused())) await Bun.sleep(5);
}

describe("SIGTERM", () => {
  test("takes no new connections, lets a running stream finish, and ends with 0", async () => {
    const rest = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    upstream.replyWith(pausedAfter({ recording, parts: 2, until: rest.promise }));
    const server = await serveApart();
    const stream = await clientOf(server).chat.completions.create({ ...chat, stream: true });
    const chunks = stream[Symbol.asyncIterator]();
    let text = (await chunks.next()).value?.choices[0]?.delta.content ?? "";

    await beginStop(server);
    await expect(fetch(`${server.origin}/healthz`)).rejects.toThrow();
    rest.resolve();
    for (let next = await chunks.next(); !next.done; next = await chunks.next())
      text += next.value.choices[0]?.delta.content ?? "";
    expect(text).toBe("Hello! How can I help?");
    expect(await server.exited).toBe(0);
  });

  test("a stream that outlasts the grace gets an error event and no [DONE], and it ends with 0", async () => {
    const recording = chatStreams.openai();
    upstream.replyWith(cutAfter({ recording, parts: 2, by: "hang" }));
    const arrival = upstream.nextRequest();
    const server = await serve({ SVC_GRACE_S: "0.05" });
    const reply = await server.post("/chat/completions", { ...chat, stream: true });
    server.signal("SIGTERM");
    const events = (await reply.text()).trim().split("\n\n");
    expect(JSON.parse(events.at(-1)?.replace("data: ", "") ?? "")).toMatchObject({
      error: { code: "shutting_down" },
    });
    expect(events.length).toBeGreaterThan(1);
    expect(events.join()).not.toContain("[DONE]");
    expect(await server.exited).toBe(0);
    const request = await arrival;
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  });

  test("a call that waits for its first byte beyond the grace is told 503", async () => {
    upstream.replyWith([{ hang: true }]);
    const arrival = upstream.nextRequest();
    const server = await serve({ SVC_GRACE_S: "0.05" });
    const reply = server.post("/chat/completions", chat);
    await arrival;
    server.signal("SIGTERM");
    const { status, headers } = await reply;
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toBe("1");
    expect(await server.exited).toBe(0);
  });

  test("a reply in one piece that is under way arrives whole, however large", async () => {
    const until = Promise.withResolvers<void>();
    const vectors = Array.from({ length: 30 }, (_, at) => Array(3072).fill(at / 7));
    const text = "x".repeat(8_000_000);
    const replies: Promise<boolean>[] = [];
    const server = await serveApart();
    for (const [path, body, recording, isWhole] of [
      [
        "/embeddings",
        { model: "svc-embedding-2", input: vectors.map(() => "x") },
        embeddingsReply({ vectors }),
        (json: string) => JSON.parse(json).data.length === vectors.length,
      ],
      [
        "/chat/completions",
        chat,
        chatJson({ text }),
        (json: string) => JSON.parse(json).choices[0].message.content === text,
      ],
    ] as const) {
      upstream.replyOnce(pausedAfter({ recording, parts: 0, until: until.promise }));
      const arrival = upstream.nextRequest();
      replies.push(server.post(path, body).then(async (reply) => isWhole(await reply.text())));
      await arrival;
    }
    await beginStop(server);
    until.resolve();
    expect(await Promise.all(replies)).toEqual([true, true]);
    expect(await server.exited).toBe(0);
  });

  for (const [what, path, body, reply] of [
    ["JSON reply", "/chat/completions", chat, chatJson({ text: "x".repeat(15_000_000) })],
    [
      "stream of audio",
      "/audio/speech",
      {
        model: "svc-2.5-flash-tts",
        // Speech is broken off when it is far longer than its text.
        input: "x".repeat(1_280),
        voice: "Kore",
        response_format: "pcm",
      },
      speechReplies.pcmChunked({ seconds: 320, partBytes: 64_000 }),
    ],
  ] as const)
    test(`a caller that reads late still gets the end of a long ${what}`, async () => {
      upstream.replyWith(reply);
      const arrival = upstream.nextRequest();
      const server = await serveApart();
      const caller = openConnection(server);
      caller.socket.pause();
      caller.post(path, body);
      const request = await arrival;
      // All of it is in our hands by now, and far more of it than a socket's buffers hold.
      if (what === "JSON reply") await request.closed;
      await beginStop(server);
      caller.socket.resume();
      const text = await caller.closed;
      expect(text.length).toBeGreaterThan(14_000_000);
      expect(text).toEndWith(what === "JSON reply" ? "}" : "\r\n0\r\n\r\n");
      expect(await server.exited).toBe(0);
    });

  test("twice at once, as a terminal and npm send it, is one wish", async () => {
    const rest = Promise.withResolvers<void>();
    const recording = chatStreams.openai();
    upstream.replyWith(pausedAfter({ recording, parts: 2, until: rest.promise }));
    const server = await serve();
    const reply = await server.post("/chat/completions", { ...chat, stream: true });
    server.signal("SIGINT");
    server.signal("SIGTERM");
    await server.waitForLog("stopping");
    rest.resolve();
    expect(await reply.text()).toEndWith("data: [DONE]\n\n");
    expect(await server.exited).toBe(0);
    expect(server.stderr().match(/stopping/g)?.length).toBe(1);
  });

  test("an idle server ends with 0 at once and leaves no socket and no owner behind", async () => {
    const server = await serve();
    await clientOf(server).models.list();
    expect(await server.stop()).toBe(0);
    const left = [
      ...new Bun.Glob("*").scanSync({ cwd: home.dataDir, dot: true, onlyFiles: false }),
    ];
    expect(left.filter((name) => /owner|sock/.test(name))).toEqual([]);
  });
});

describe("SIGKILL", () => {
  test("leaves nothing that a command or the next start would trip over", async () => {
    const first = await serveApart();
    first.signal("SIGKILL");
    await first.exited;
    const keys = await home.json<readonly unknown[]>("key list");
    expect(keys.length).toBe(1);
    const second = await serve();
    expect(second.key).toBeUndefined();
    expect(await second.statusFor(first.key)).toBe(200);
    expect(await second.stop()).toBe(0);
  });
});

/** One connection by hand, kept open until either side closes it. */
function openConnection(server: ChildServer) {
  const socket: Socket = connect(Number(new URL(server.origin).port), "127.0.0.1");
  const pieces: Buffer[] = [];
  const text = () => Buffer.concat(pieces).toString("latin1");
  const closed = Promise.withResolvers<string>();
  socket.on("data", (bytes: Buffer) => pieces.push(bytes));
  // A write may meet a connection that the server has just closed: that is an end, too.
  socket.on("error", () => closed.resolve(text()));
  socket.once("close", () => closed.resolve(text()));
  const head = `Host: x\r\nAuthorization: Bearer ${server.key}\r\n`;
  return {
    socket,
    /** All that came until the connection closed. */
    closed: closed.promise,
    post(path: string, body: object) {
      const json = JSON.stringify(body);
      const length = `Content-Length: ${json.length}\r\n`;
      socket.write(`POST /v1${path} HTTP/1.1\r\n${head}${length}\r\n${json}`);
    },
  };
}
