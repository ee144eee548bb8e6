import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectControl } from "../../../src/platform/control-socket.ts";
import { chatAnswers, chatStreams } from "../../fake/recordings.ts";
import { useCallHome } from "../../setup/call-home.ts";
import { createHome } from "../../setup/child.ts";
import { type Refused, refusal, refusesAll, succeeds } from "../../setup/outcomes.ts";

const answer = "Hello! How can I help?";

const calls = await useCallHome();

describe("svc chat", () => {
  test("prints the whole completion with --json, from a prompt on stdin and all options", async () => {
    calls.upstream.replyWith(chatAnswers.plain());
    const options =
      "--system Brief --temperature 0.5 --max-tokens 9 --seed=-1 --stop a --stop b --model svc-2-flash";
    const stdout = succeeds(
      await calls.run(["chat", "-", "--json", ...options.split(" ")], "A\nB\n"),
    );
    expect(JSON.parse(stdout)).toMatchObject({
      object: "chat.completion",
      model: "svc-2-flash",
      choices: [{ message: { content: "Hello! How can I help you today?" } }],
    });
    expect(calls.upstream.requests[0]?.json).toMatchObject({
      model: "upstream-old-chat",
      messages: [
        { role: "system", content: "Brief" },
        { role: "user", content: "A\nB" },
      ],
      temperature: 0.5,
      max_tokens: 9,
      seed: -1,
      stop: ["a", "b"],
    });
  });

  test("reports a reply that ended early, after printing its start", async () => {
    for (const [recording, says] of [
      [chatStreams.errorAfterStart(), "The model failed"],
      [chatStreams.cutBeforeFinish(), "ended early"],
    ] as const) {
      calls.upstream.replyWith(recording);
      const { code, stdout, stderr } = await calls.svc(["chat", "Hi"]);
      expect(code).toBe(1);
      expect(stdout).toBe(`${answer}\n`);
      expect(stderr).toStartWith("error: ");
      expect(stderr).toContain(says);
    }
  });
});

describe("--curl", () => {
  const throughCurl = async (words: readonly string[], stdin?: string) => {
    const stdout = succeeds(await calls.svc([...words, "--curl"], stdin));
    expect(stdout).toMatch(/^# Set KEY .*svc key create.*\n.*curl .*\n$/);
    expect(stdout).not.toContain("sk-svc-…\n");
    expect(calls.upstream.requests).toBeEmpty();
    const reply = await calls.shell(stdout);
    expect(reply.code).toBe(0);
    return reply.stdout;
  };

  test("prints a line that asks the same, whatever is in the prompt", async () => {
    const odd = `It's "$HOME" \`id\` \\n !! %s 你好\nand more`;
    for (const prompt of [odd, odd + "x".repeat(300_000)]) {
      calls.upstream.reset();
      calls.upstream.replyWith(chatAnswers.plain());
      const words = ["chat", "-", "--json", "--system", "it's"];
      const own = await calls.svc(words, prompt);
      const [asked] = calls.upstream.requests;
      calls.upstream.reset();
      calls.upstream.replyWith(chatAnswers.plain());
      const stdout = await throughCurl(words, prompt);
      expect(JSON.parse(stdout).choices).toEqual(JSON.parse(own.stdout).choices);
      expect(calls.upstream.requests[0]?.json).toEqual(asked?.json);
      expect(asked?.json).toMatchObject({ messages: [{ content: "it's" }, { content: prompt }] });
    }
  });

  test("streams where the command streams", async () => {
    calls.upstream.replyWith(chatStreams.openai());
    const stdout = await throughCurl(["chat", "Hi"]);
    expect(stdout).toStartWith("data: {");
    expect(stdout).toEndWith("data: [DONE]\n\n");
  });

  test("takes another gateway's address without asking it", async () => {
    const { stdout } = await calls.svc("chat Hi --curl --url https://models.example");
    expect(stdout).toContain("https://models.example/v1/chat/completions");
    expect(stdout).toContain('"model":"svc-3-flash"');
  });
});

describe("the key", () => {
  test("that is made for a call is in no list, not stored, and ends with the server", async () => {
    await using home = createHome();
    const server = await home.serve();
    const before = await home.json<readonly { readonly id: string }[]>("key list");
    const running = await connectControl(home.dataDir);
    if (running === undefined) throw new Error("no server runs");
    const made = await running.operations.gateway.createTemporaryKey({});
    const inMinutes = (Date.parse(made.expires_at) - Date.now()) / 60_000;
    expect(inMinutes).toBeGreaterThan(13);
    expect(inMinutes).toBeLessThanOrEqual(15);
    expect(made.base_url).toBe(server.baseUrl);
    expect(await server.statusFor(made.key)).toBe(200);
    expect(before).toHaveLength(1);
    expect(await home.json<readonly unknown[]>("key list")).toEqual(before);
    expect(await home.json<unknown>("account show default")).toMatchObject({
      id: made.account,
      key_list: before.map(({ id }) => ({ id })),
    });
    expect(await server.stop()).toBe(0);
    const restarted = await home.serve();
    expect(await restarted.statusFor(made.key)).toBe(401);
    expect(await restarted.statusFor(server.key ?? "")).toBe(200);
  });

  test("may be given, and may be one that can call a single model", async () => {
    const created = await calls.home.json<{ key: string }>(
      "key create --account default --models svc-2-flash",
    );
    calls.upstream.replyWith(chatStreams.openai());
    const { stdout } = await calls.svc(["chat", "Hi", "--key", created.key]);
    expect(stdout).toBe(`${answer}\n`);
    expect(calls.upstream.requests[0]?.json).toMatchObject({ model: "upstream-old-chat" });
  });

  test("is paid for by the only account or the one that is named", async () => {
    await using home = createHome();
    const server = await home.serve({ SVC_FIRST_KEY: "off" });
    const says = (words: string) => home.svc(`chat Hi ${words}`);
    const noModel = refusal(3, "No chat model is available");
    expect(await says("")).toMatchObject(refusal(3, "svc account create"));
    await home.json("account create one");
    expect(await says("")).toMatchObject(noModel);
    await home.json("account create two");
    expect(await says("")).toMatchObject(refusal(2, "--account"));
    expect(await says("--account two")).toMatchObject(noModel);
    expect(await says("--account three")).toMatchObject(refusal(3, "three"));
    await home.json("account create default");
    expect(await says("")).toMatchObject(noModel);
    expect(await server.stop()).toBe(0);
    expect(await says("")).toMatchObject(refusal(1, "Try: svc serve"));
  });
});

const loading = (message: string) =>
  Response.json(
    { error: { message, type: "server_error", param: null, code: "model_loading" } },
    { status: 503, headers: { "retry-after": "1", "retry-after-ms": "1" } },
  );
const spoken = (text: string) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\ndata: [DONE]\n\n`;

describe("a model that is still loading", () => {
  test("is waited for, and each change of what it says is told once", async () => {
    const messages = ["fetching 10 %", "fetching 10 %", "fetching 90 %", "loading"];
    const keys: (string | null)[] = [];
    using gateway = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        keys.push(request.headers.get("authorization"));
        const message = messages.shift();
        return message === undefined ? new Response(spoken("Here.\n")) : loading(message);
      },
    });
    const words = `chat Hi --model m --key k --url ${gateway.url.href}`.split(" ");
    const { code, stdout, stderr } = await calls.svc(words);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: "Here.\n",
      stderr: "fetching 10 %\nfetching 90 %\nloading\n",
    });
    expect(keys).toEqual(Array(5).fill("Bearer k"));
  });
});

test("a reply that is only a tool call is announced", async () => {
  calls.upstream.replyWith(chatStreams.toolCall());
  expect(await calls.svc(["chat", "Hi"])).toEqual({
    code: 0,
    stdout: "",
    stderr: "The reply contains a tool call. Use --json to see it.\n",
  });
});

test("an address that is not a gateway is reported as such", async () => {
  using other = Bun.serve({ port: 0, fetch: () => new Response("<p>Hi", { status: 404 }) });
  const words = `chat Hi --model m --key k --url ${other.url.href}v2/`.split(" ");
  expect(await calls.svc(words)).toMatchObject(
    refusal(1, `${other.url.href}v2 returned 404 without an API error`),
  );
});

test("wrong words are refused before anything is called", async () => {
  const cases: readonly Refused[] = [
    ["chat", 2, "PROMPT is missing"],
    ["chat -", 2, "PROMPT is empty"],
    ["chat Hi --temperature warm", 2, "--temperature: Expected a number"],
    ["chat Hi --url http://127.0.0.1:1", 2, "--key: --url requires --key"],
    ["chat Hi --url nowhere --key k", 2, "--url: Expected an address"],
    ['chat Hi --url ftp://u:ge"heim@h --key k', 2, ', not "ftp://…@h".'],
    ["chat Hi --account a --key k", 2, "--account: Use either --account or --key"],
    ["embed", 2, "Nothing to embed"],
    ["embed --image none.png", 3, "File none.png does not exist."],
    ["embed --image text.txt", 2, "text.txt is not a PNG"],
    ["say Hi -o speech.mp3", 2, "not mp3"],
    ["say Hi --format ogg", 2, "--format: Expected wav or pcm"],
    ["say Hi -o none/a.wav", 3, "Directory none does not exist"],
    ["say Hi -o .", 2, ". is a directory"],
  ];
  writeFileSync(join(calls.folder, "text.txt"), "text");
  await refusesAll((words) => calls.svc(words), cases);
  expect(calls.upstream.requests).toBeEmpty();
});

test("a rejected call prints the gateway's message and exits with 1", async () => {
  const cases: readonly (readonly [words: string, says: string])[] = [
    [
      "chat Hi --model m --key sk-svc-wrong",
      "Incorrect API key provided. Pass a valid key with --key.\n",
    ],
    ["chat Hi --key sk-svc-wrong", "Incorrect API key provided. Pass a valid key with --key.\n"],
    ["chat Hi --model m --key k --url http://127.0.0.1:1", "Cannot reach the gateway"],
  ];
  for (const [words, says] of cases) {
    const { code, stdout, stderr } = await calls.svc(words);
    expect([words, code, stdout]).toEqual([words, 1, ""]);
    expect(stderr).toStartWith("error: ");
    expect(stderr).toContain(says);
  }
});

test("a refused value is invalid, and its flag is named", async () => {
  const cases: readonly (readonly [words: string, field: string, says: string])[] = [
    [
      "chat Hi --model svc-embedding-2",
      "model",
      "--model: svc-embedding-2 is not available for svc chat. Use svc embed.\n",
    ],
    ["chat Hi --temperature 9", "temperature", "--temperature: Must be a number from 0 to 2"],
    ["chat Hi --max-tokens 0", "max_tokens", "--max-tokens: Must be "],
    ["embed Hi --dimensions 5", "dimensions", "--dimensions: Must be 768, 1536 or 3072"],
    ["say Hi --voice Nobody", "voice", "--voice: Must be one of: Kore"],
  ];
  for (const [words, field, says] of cases) {
    const { code, stdout, stderr } = await calls.svc(words);
    expect([words, code, stdout]).toEqual([words, 2, ""]);
    expect(stderr).toStartWith(`error: ${says}`);
    const json = await calls.svc([...words.split(" "), "--json"]);
    expect([words, json.code]).toEqual([words, 2]);
    expect(JSON.parse(json.stderr).error).toMatchObject({ code: "invalid", field });
  }
});

test("a model that does not exist is not found, and the closest one is suggested", async () => {
  const unknown = await calls.svc("chat Hi --model svc-3-flsh");
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).toBe(
    'error: Model "svc-3-flsh" does not exist. Did you mean "svc-3-flash"?\nTry: svc model list\n',
  );
});

test("the gateway is not connected to itself", async () => {
  const { port } = new URL(calls.server.origin);
  const words = `provider add llamacpp --base-url http://localhost:${port}/v1 --no-models`;
  const { code, stderr } = await calls.svc(words);
  expect([code, stderr]).toEqual([
    2,
    `error: --base-url: localhost:${port} is this gateway. Start the server on another port and pass --base-url.\n`,
  ]);
});
