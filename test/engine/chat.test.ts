import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { recordChat } from "../fixtures/embedded-model/record.ts";
import { readChat } from "../fixtures/embedded-model/recorded.ts";
import { type ErrorBody, parseStream } from "../replies/event-stream.ts";
import { type EngineHome, startEngineHome } from "../setup/engine-home.ts";

setDefaultTimeout(300_000);

let engine: EngineHome;
beforeAll(async () => {
  engine = await startEngineHome({ sets: ["chat"] });
}, 900_000);
afterAll(() => engine.stop());

const model = "svc-3-flash";
const question = [{ role: "user" as const, content: "What is the capital of France?" }];
const ask = (more: object = {}, messages: readonly object[] = question) =>
  engine.client.chat.completions.create({
    model,
    messages: [...messages] as never,
    ...more,
  }) as Promise<{
    choices: { message: { content: string }; finish_reason: string }[];
    usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  }>;
const textOf = async (reply: ReturnType<typeof ask>) =>
  (await reply).choices[0]?.message.content ?? "";

test("knows the capital of France, and says what it cost in its own tokens", async () => {
  const { choices, usage } = await ask({ max_tokens: 40 });
  expect(choices[0]?.message.content).toContain("Paris");
  expect(choices[0]?.finish_reason).toBe("stop");
  expect(usage.prompt_tokens).toBe(23);
  expect(usage.completion_tokens).toBeGreaterThan(5);
  expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
});

test("streams token by token, with the same text and usage as the whole reply", async () => {
  const body = { model, messages: question, max_tokens: 12, temperature: 0 };
  const whole = await ask(body);
  const response = await engine.call("/chat/completions", {
    ...body,
    stream: true,
    stream_options: { include_usage: true },
  });
  const { chunks, isDone } = parseStream(await response.text());
  const deltas = chunks.flatMap(({ choices }) =>
    choices.map(({ delta }) => delta["content"] ?? ""),
  );
  expect(isDone).toBe(true);
  expect(deltas.join("")).toBe(whole.choices[0]?.message.content ?? "");
  expect(deltas.filter((text) => text !== "").length).toBeGreaterThan(8);
  expect(chunks.at(-1)?.usage).toMatchObject({ ...whole.usage });
});

test("the recorded replies that clients are tested on have the shape of real ones", async () => {
  await ask({ max_tokens: 1 });
  const now = await recordChat(engine.socket);
  const recorded = readChat();
  const shapeOf = (value: unknown) =>
    JSON.parse(JSON.stringify(value), (_, one) =>
      ["string", "number"].includes(typeof one) ? typeof one : one,
    );
  expect(shapeOf(JSON.parse(now.whole))).toEqual(shapeOf(JSON.parse(recorded.whole)));
  const shapesOf = (stream: string) => {
    const events = stream.split("\n\n").map((event) => event.replace(/^data: /, ""));
    const shapes = events.map((data) =>
      data.startsWith("{") ? JSON.stringify(shapeOf(JSON.parse(data))) : data,
    );
    return [...new Set(shapes)];
  };
  expect(shapesOf(now.streamed)).toEqual(shapesOf(recorded.streamed));
});

test("the same seed gives the same text, another seed another", async () => {
  const story = [{ role: "user", content: "Tell me a story about a dragon." }];
  const told = (seed: number) => textOf(ask({ seed, temperature: 1, max_tokens: 10 }, story));
  const first = await told(7);
  // Another conversation in between must not change it.
  await textOf(ask({ max_tokens: 4 }));
  expect(await told(7)).toBe(first);
  const others = [await told(8), await told(9)];
  expect(others.some((text) => text !== first)).toBe(true);
});

test("a greeting does not end in a loop", async () => {
  const { choices } = await ask({ max_tokens: 120 }, [{ role: "user", content: "hi" }]);
  const words = (choices[0]?.message.content ?? "").toLowerCase().split(/\W+/);
  const runs = words.map((_, at) => words.slice(at, at + 6).join(" ")).slice(0, -6);
  // No six words come three times.
  for (const run of runs) expect(runs.filter((other) => other === run).length).toBeLessThan(3);
});

test("max_tokens ends in length, exactly there", async () => {
  const { choices, usage } = await ask({ max_tokens: 3 });
  expect(choices[0]?.finish_reason).toBe("length");
  expect(usage.completion_tokens).toBe(3);
});

test("a stop sequence stops, and is not part of the text", async () => {
  const { choices } = await ask({ stop: ["Paris"], max_tokens: 40, temperature: 0 });
  expect(choices[0]?.finish_reason).toBe("stop");
  expect(choices[0]?.message.content).toContain("The capital of France is");
  expect(choices[0]?.message.content).not.toContain("Paris");
});

test("temperature and top_p are honoured: without chance there is one answer", async () => {
  const dice = [{ role: "user", content: "Name any animal." }];
  const cold = await Promise.all(
    [1, 2].map((seed) => textOf(ask({ seed, temperature: 0, max_tokens: 10 }, dice))),
  );
  expect(cold[0]).toBe(cold[1] ?? "");
  const narrow = await Promise.all(
    [1, 2].map((seed) =>
      textOf(ask({ seed, temperature: 1.5, top_p: 0.000001, max_tokens: 10 }, dice)),
    ),
  );
  expect(narrow[0]).toBe(narrow[1] ?? "");
});

test("a conversation is remembered: system, user and assistant all reach the model", async () => {
  const messages = [
    { role: "system", content: "You are a helpful assistant." },
    { role: "user", content: "My name is Bruno." },
    { role: "assistant", content: "Hello Bruno, nice to meet you." },
    { role: "user", content: "What is my name?" },
  ];
  const told = await ask({ max_tokens: 12, temperature: 0 }, messages);
  expect(told.choices[0]?.message.content).toContain("Bruno");
  // Each message adds its own tokens to the prompt.
  let before = told.usage.prompt_tokens;
  for (const kept of [3, 2, 1]) {
    const { usage } = await ask({ max_tokens: 1 }, messages.slice(4 - kept));
    expect(usage.prompt_tokens).toBeLessThan(before - 4);
    before = usage.prompt_tokens;
  }
});

test("a conversation longer than the context is 400, and says both lengths", async () => {
  const response = await engine.call("/chat/completions", {
    model,
    stream: true,
    messages: [{ role: "user", content: "word ".repeat(3_000) }],
  });
  const { error } = (await response.json()) as ErrorBody;
  expect(response.status).toBe(400);
  expect(error).toMatchObject({ code: "context_length_exceeded", param: "messages" });
  expect(error.message).toMatch(/^prompt is too long: 3\d{3} tokens > 2048 maximum, /);
  expect(error.message).toContain("maximum context length is 2048");
});

test("what the model cannot do is refused by name", async () => {
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
  for (const [more, param] of [
    [{ n: 2 }, "n"],
    [
      { tool_choice: "required", tools: [{ type: "function", function: { name: "f" } }] },
      "tool_choice",
    ],
    [{ messages: [{ role: "user", content: [image] }] }, "messages[0].content"],
  ] as const) {
    const response = await engine.call("/chat/completions", { model, messages: question, ...more });
    expect(response.status).toBe(400);
    expect(((await response.json()) as ErrorBody).error.param).toBe(param);
  }
});

test("an answer can be held to a JSON schema", async () => {
  const schema = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  };
  const text = await textOf(
    ask({
      max_tokens: 40,
      response_format: { type: "json_schema", json_schema: { name: "answer", schema } },
    }),
  );
  expect(Object.keys(JSON.parse(text))).toEqual(["city"]);
});

test("nothing that a caller sends gets into the log, not even by way of native code", async () => {
  for (const schema of [
    { $ref: '#/SECRETWORD"\n{"level":"error","message":"forged"}\n' },
    { type: "object", properties: { SECRETWORD: { type: "array", minItems: 100_000 } } },
  ])
    await engine.call("/chat/completions", {
      model,
      messages: [{ role: "user", content: "SECRETWORD" }],
      max_tokens: 4,
      response_format: { type: "json_schema", json_schema: { name: "a", schema } },
    });
  expect(engine.server.stderr()).not.toMatch(/SECRETWORD|forged/);
});

test("a caller who leaves stops the generation", async () => {
  const processOf = async () =>
    (await engine.status()).engine.models.find(({ name }) => name === "chat");
  await ask({ max_tokens: 1 });
  const before = await processOf();
  const leave = new AbortController();
  const response = await engine.call(
    "/chat/completions",
    {
      model,
      stream: true,
      messages: [{ role: "user", content: "Write a very long story." }],
      temperature: 1,
    },
    { signal: leave.signal },
  );
  const reader = response.body?.getReader();
  await reader?.read();
  leave.abort();
  // A generation that went on would take minutes for its two thousand tokens, and this would wait.
  const { usage } = await ask({ max_tokens: 2 });
  expect(usage.completion_tokens).toBe(2);
  // The same process: it was asked to stop, and did.
  expect(await processOf()).toMatchObject({ pid: before?.pid, active: 0, waiting: 0 });
});
