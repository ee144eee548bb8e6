/** Commands as a shell runs them: their pipes, their signals, and readers that leave. */

import { beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { $ } from "bun";
import {
  chatChunk,
  chatStreams,
  embeddingsReply,
  httpChunk,
  speechReplies,
  tone,
} from "../../fake/recordings.ts";
import { cutAfter, pausedAfter } from "../../fake/script.ts";
import { useCallHome } from "../../setup/call-home.ts";
import { succeeds } from "../../setup/outcomes.ts";

const answer = "Hello! How can I help?";

const calls = await useCallHome();
beforeEach(() => {
  for (const name of readdirSync(calls.folder)) rmSync(join(calls.folder, name));
});

const loading = () =>
  Response.json(
    { error: { message: "loading", type: "server_error", param: null, code: "model_loading" } },
    { status: 503, headers: { "retry-after": "1", "retry-after-ms": "1" } },
  );

describe("svc chat", () => {
  test("prints each piece when it comes, and ends with a line end", async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    calls.upstream.replyWith(
      pausedAfter({ recording: chatStreams.openai(), parts: 2, until: promise }),
    );
    const child = calls.start(["chat", "Tell", "me a joke"]);
    const reader = child.stdout.getReader();
    let text = Buffer.from((await reader.read()).value ?? []).toString();
    expect(text).toBe("Hello");
    release();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      text += Buffer.from(piece.value).toString();
    expect(text).toBe(`${answer}\n`);
    expect(await child.exited).toBe(0);
    expect(calls.upstream.requests[0]?.json).toMatchObject({
      model: "upstream-chat",
      messages: [{ role: "user", content: "Tell me a joke" }],
    });
  });

  test("closes the connection on ctrl-c and leaves with 130", async () => {
    calls.upstream.replyWith(cutAfter({ recording: chatStreams.openai(), parts: 2, by: "hang" }));
    const child = calls.start(["chat", "Hi"]);
    await child.stdout.getReader().read();
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    const [request] = calls.upstream.requests;
    await request?.closed;
    expect(request?.abortedByClient).toBe(true);
  });

  test("a reader that has enough ends the command, and the call with it", async () => {
    const { promise: until, resolve: goOn } = Promise.withResolvers<void>();
    const chunk = httpChunk(
      `data: ${JSON.stringify(chatChunk({ delta: { content: "x".repeat(9999) } }))}\n\n`,
    );
    const start = Buffer.concat([chatStreams.openai().head, chunk]);
    calls.upstream.replyWith([{ send: start }, { until }, { flood: 1e9, chunk }]);
    const child = calls.start(["chat", "Hi"]);
    const reader = child.stdout.getReader();
    await reader.read();
    await reader.cancel();
    goOn();
    expect(await child.exited).toBe(141);
    const [request] = calls.upstream.requests;
    await request?.closed;
    expect(request?.abortedByClient).toBe(true);
  });

  test("a model that is still loading is no longer waited for after ctrl-c", async () => {
    using gateway = Bun.serve({ port: 0, fetch: loading });
    const words = `chat Hi --model m --key k --url ${gateway.url.href}`.split(" ");
    const child = calls.start(words);
    await child.stderr.getReader().read();
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
  });
});

describe("svc say", () => {
  test("gives the audio alone on stdout with -o -, and the figures on stderr", async () => {
    calls.upstream.replyWith(speechReplies.pcmChunked({ seconds: 20 }));
    const text = "Hello there, and a good morning to you all.\n";
    const { code, bytes, stderr } = await calls.run(["say", "-", "-o", "-"], text);
    expect(code).toBe(0);
    expect(bytes.subarray(44)).toEqual(tone(20));
    expect([4, 40].map((at) => bytes.readUInt32LE(at))).toEqual([0xffff_ffff, 0xffff_ffff]);
    expect(stderr).toStartWith("20.00 s of speech");
  });

  test("after the first sound leaves no file, and says so", async () => {
    for (const recording of [speechReplies.pcmChunked(), speechReplies.pcmWithLength()]) {
      const { promise: seen, resolve: see } = Promise.withResolvers<void>();
      calls.upstream.replyWith(cutAfter({ recording, parts: 2, by: "close", until: seen }));
      const child = calls.start(["say", "Hello", "-o", "half.wav"]);
      await appears(join(calls.folder, "half.wav"));
      see();
      expect(await child.exited).toBe(1);
      expect(await new Response(child.stderr).text()).toMatch(
        /^error: .*ended early.* The incomplete file half\.wav was removed\.\n$/,
      );
      expect(existsSync(join(calls.folder, "half.wav"))).toBe(false);
    }
  });

  test("by ctrl-c stops the upstream, leaves no file, and ends with 130", async () => {
    calls.upstream.replyWith(
      cutAfter({ recording: speechReplies.pcmChunked(), parts: 2, by: "hang" }),
    );
    const child = calls.start(["say", "Hello", "-o", "half.wav"]);
    await appears(join(calls.folder, "half.wav"));
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(await new Response(child.stderr).text()).toContain(
      "incomplete file half.wav was removed",
    );
    expect(existsSync(join(calls.folder, "half.wav"))).toBe(false);
    const [request] = calls.upstream.requests;
    await request?.closed;
    expect(request?.abortedByClient).toBe(true);
  });
});

/** The command opens its file at the first sound. */
async function appears(path: string): Promise<void> {
  while (!existsSync(path)) await new Promise(setImmediate);
}

test("gives all of a reply that no pipe can hold at once", async () => {
  const vector = Array.from({ length: 3072 }, (_, at) => at / 4096);
  calls.upstream.replyWith(embeddingsReply({ vectors: Array(50).fill(vector) }));
  const texts = Array.from({ length: 50 }, (_, at) => `text ${at}`);
  const stdout = succeeds(await calls.run(["embed", ...texts, "--json"]));
  expect(JSON.parse(stdout).data[49].embedding).toEqual(vector);
});

test("a long error reaches a slow reader whole", async () => {
  // More than a pipe holds. The reader starts when the command has long had all of it to write.
  const flag = `--${"a".repeat(100_000)}`;
  const main = join(import.meta.dir, "../../../src/main.ts");
  const script = '{ "$0" "$1" account list "$2" 2>&1; echo "exit $?"; } | { sleep 1; cat; }';
  const { stdout } = await $`sh -c ${script} ${process.execPath} ${main} ${flag}`.quiet();
  const text = stdout.toString();
  expect(text).toContain(`Unknown flag "${flag}"`);
  expect(text).toEndWith("exit 2\n");
});

test("output that cannot be written is exit code 1", async () => {
  const main = join(import.meta.dir, "../../../src/main.ts");
  const script = '"$0" "$1" --help 1< /dev/null';
  const { exitCode, stderr } = await $`sh -c ${script} ${process.execPath} ${main}`
    .nothrow()
    .quiet();
  expect({ exitCode, stderr: stderr.toString() }).toEqual({
    exitCode: 1,
    stderr: expect.stringMatching(/^error: Cannot write the output: EBADF/),
  });
});
