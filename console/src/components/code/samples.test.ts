import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jsonReply } from "../../../../test/fake/http/reply.ts";
import { chatAnswers, speechReplies } from "../../../../test/fake/recordings.ts";
import { startTestGateway, type TestGateway } from "../../../../test/setup/harness.ts";
import { dialects } from "./dialects.ts";
import {
  callSamples,
  firstCallSamples,
  modelToTry,
  pathOf,
  type SampledCall,
  withoutFiles,
} from "./samples.ts";

const chat = { id: "svc-3-flash", endpoint: "chat", input: "text" };
const speech = { id: "svc-2.5-flash-tts", endpoint: "speech", input: "text" };
const vectors = { id: "svc-embedding-2", endpoint: "embeddings", input: "text" };
const media = { id: "multimodal-embedding-1", endpoint: "embeddings", input: "media" };

const codeOf = (label: string, options: Parameters<typeof firstCallSamples>[0]) =>
  firstCallSamples(options).find((sample) => sample.label === label)?.code ?? "";

describe("the sample for curl, pasted into a shell,", () => {
  let gateway: TestGateway;
  let folder: string;
  beforeAll(async () => {
    gateway = await startTestGateway();
    folder = mkdtempSync(join(tmpdir(), "svc-first-call-"));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await gateway.stop();
  });

  /** As somebody would do it, in the folder where they are. */
  async function paste(code: string, environment: Readonly<Record<string, string>> = {}) {
    const child = Bun.spawn(["bash", "-c", code.replace("curl ", "curl -sS ")], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", ...environment },
      stderr: "pipe",
    });
    const text = await new Response(child.stdout).text();
    expect(await new Response(child.stderr).text()).toBe("");
    return text;
  }
  const vectorReply = jsonReply({
    body: {
      object: "list",
      model: "m",
      data: [{ object: "embedding", index: 0, embedding: [0.1, 0.2] }],
      usage: { prompt_tokens: 5, total_tokens: 5 },
    },
  });

  test("talks to a chat model with the key that is in it, or with that of the environment", async () => {
    gateway.upstream.replyWith(chatAnswers.plain());
    const { baseUrl, key } = gateway;
    const shown = await paste(codeOf("curl", { baseUrl, model: chat, key }));
    expect(JSON.parse(shown)).toMatchObject({ object: "chat.completion", model: chat.id });
    const kept = await paste(codeOf("curl", { baseUrl, model: chat }), { SVC_API_KEY: key });
    expect(JSON.parse(kept)).toMatchObject({ object: "chat.completion" });
  });

  test.each([vectors, media])("gets vectors of $input", async (model) => {
    gateway.upstream.replyWith(vectorReply);
    const { baseUrl, key } = gateway;
    const reply = JSON.parse(await paste(codeOf("curl", { baseUrl, model, key })));
    expect(reply.data[0].embedding.length).toBeGreaterThan(0);
  });

  test("writes speech into a file", async () => {
    gateway.upstream.replyWith(speechReplies.pcmWithLength({ seconds: 1 }));
    const { baseUrl, key } = gateway;
    await paste(codeOf("curl", { baseUrl, model: speech, key }));
    expect(readFileSync(join(folder, "speech.wav")).subarray(0, 4).toString()).toBe("RIFF");
  });

  test("finds all that it needs in the environment that is shown with it", async () => {
    gateway.upstream.replyWith(chatAnswers.plain());
    const { baseUrl, key } = gateway;
    const both = `${codeOf("Environment", { baseUrl, model: chat, key })}
[ "$OPENAI_BASE_URL" = "${baseUrl}" ] && [ "$OPENAI_API_KEY" = "$SVC_API_KEY" ] &&
${codeOf("curl", { baseUrl, model: chat })}`;
    expect(JSON.parse(await paste(both))).toMatchObject({ object: "chat.completion" });
  });
});

test("programs keep the key out of their text; only where it is shown does a sample have it", () => {
  const options = { baseUrl: "http://gateway.example/v1", key: "sk-svc-secret" };
  for (const model of [chat, speech, vectors, media]) {
    const samples = firstCallSamples({ ...options, model });
    expect(samples.map(({ label }) => label)).toEqual([
      "curl",
      "Python",
      "TypeScript",
      ...(model === chat ? ["AI SDK", "LangChain"] : []),
      "Environment",
    ]);
    for (const { label, code } of samples) {
      expect(code).toContain(options.baseUrl);
      expect(code.includes(options.key)).toBe(label === "curl" || label === "Environment");
      expect(code.includes(model.id)).toBe(label !== "Environment");
    }
    const { baseUrl } = options;
    expect(firstCallSamples({ baseUrl, model })).toHaveLength(model === chat ? 5 : 3);
  }
});

describe("a chat model is called in each format", () => {
  const options = { baseUrl: "http://gateway.example/v1", model: chat, key: "sk-svc-secret" };
  const all = dialects.map(({ id, path }) => ({
    id,
    path,
    samples: firstCallSamples({ ...options, dialect: id }),
  }));

  test.each(all)("$id by its path, or by the SDK that adds it", ({ id, path, samples }) => {
    const codes = Object.fromEntries(samples.map(({ label, code }) => [label, code]));
    expect(codes["curl"]).toContain(`http://gateway.example/v1${path} `);
    for (const [label, code] of Object.entries(codes)) {
      expect(code.includes("sk-svc-secret")).toBe(label === "curl" || label === "Environment");
      // The SDKs of Anthropic add the version themselves; their package in the AI SDK does not.
      const addsVersion = id === "messages" && label !== "AI SDK" && label !== "curl";
      expect(code.includes("http://gateway.example/v1")).toBe(!addsVersion);
    }
    const isAnthropic = id === "messages";
    for (const label of ["Python", "TypeScript", "AI SDK", "LangChain", "Environment"])
      expect(/anthropic/i.test(codes[label] ?? "")).toBe(isAnthropic);
    expect(codes["curl"]?.includes("anthropic-version: 2023-06-01")).toBe(isAnthropic);
  });

  test.each(all)("$id: the samples in TypeScript are programs", ({ samples }) => {
    const transpiler = new Bun.Transpiler({ loader: "ts" });
    for (const { label, code } of samples)
      if (label === "TypeScript" || label === "AI SDK")
        expect(transpiler.scan(code).imports.length).toBeGreaterThan(0);
  });

  test("the samples in Python are programs", async () => {
    const codes = all.flatMap(({ samples }) =>
      samples.flatMap(({ label, code }) =>
        label === "Python" || label === "LangChain" ? [code] : [],
      ),
    );
    const check = "import ast, json, sys; [ast.parse(code) for code in json.load(sys.stdin)]";
    const child = Bun.spawn(["python3", "-c", check], {
      stdin: new Blob([JSON.stringify(codes)]),
      stderr: "pipe",
    });
    expect(await new Response(child.stderr).text()).toBe("");
    expect(await child.exited).toBe(0);
    expect(codes.length).toBeGreaterThan(all.length);
  });
});

test("the model to try is one that the key may call, a chat model where there is one", () => {
  const models = [
    { ...vectors, status: "active" },
    { ...chat, id: "old", status: "deprecated" },
    { ...chat, id: "gone", status: "retired" },
    { ...chat, status: "active" },
  ];
  expect(modelToTry(models, null)?.id).toBe("svc-3-flash");
  expect(modelToTry(models, ["svc-embedding-2", "old"])?.id).toBe("old");
  expect(modelToTry(models, ["svc-embedding-2"])?.id).toBe("svc-embedding-2");
  expect(modelToTry(models, ["gone", "svc-9"])).toBeUndefined();
});

const question: SampledCall & { readonly body: object } = {
  path: "/chat/completions",
  baseUrl: "https://gateway.example/v1",
  body: {
    model: "svc-3-flash",
    messages: [{ role: "user", content: `It's "so"\nand ${"`${x}`"} \\ too` }],
    temperature: 0.2,
    response_format: { type: "json_object" },
    stream: true,
  },
};
const programOf = (call: SampledCall, label: string) =>
  callSamples(call).find((sample) => sample.label === label)?.code ?? "";

test("what a shell makes of the curl sample is the very body, quotes and all", async () => {
  const code = programOf(question, "curl").replace(/^curl /, "printf '%s\\n' ");
  const child = Bun.spawn(["sh", "-c", code], { env: { SVC_API_KEY: "sk-1" }, stdout: "pipe" });
  const said = await new Response(child.stdout).text();
  expect(said).toContain("https://gateway.example/v1/chat/completions");
  expect(said).toContain("Authorization: Bearer sk-1");
  expect(JSON.parse(said.slice(said.indexOf("\n{") + 1))).toEqual(question.body);
});

test("the object in the TypeScript sample is the very body", () => {
  const code = programOf(question, "TypeScript");
  const literal = /create\(([\s\S]*?)\);\nfor await/.exec(code)?.[1] ?? "";
  expect(new Function(`return (${literal});`)()).toEqual(question.body);
});

test("Python has its own words for true and null, and takes fields as names", () => {
  const code = programOf({ ...question, body: { ...question.body, seed: null } }, "Python");
  expect(code).toContain("    stream=True,");
  expect(code).toContain("    seed=None,");
  expect(code).toContain(`    response_format={\n        "type": "json_object",\n    },`);
  expect(code).toContain(`os.environ["SVC_API_KEY"]`);
});

test("no sample holds whole files, and each says that something is left out", () => {
  const body = {
    model: "multimodal-embedding-1",
    input: [`data:image/jpeg;base64,${"A".repeat(5_000)}`],
  };
  const video = {
    model: "multimodal-embedding-1",
    input: { video: { bytesBase64Encoded: "A".repeat(5_000) } },
  };
  const source = { type: "base64", media_type: "image/png", data: "A".repeat(5_000) };
  const image = { model: "m", messages: [{ role: "user", content: [{ type: "image", source }] }] };
  for (const each of [body, video, image])
    for (const { code } of callSamples({
      ...question,
      path: pathOf("embeddings"),
      body: withoutFiles(each),
    })) {
      expect(code.length).toBeLessThan(1_000);
      expect(code).toContain("…");
    }
});

test("speech is written to a file of its format", () => {
  const body = { model: "svc-2.5-flash-tts", input: "Hi", voice: "Kore", response_format: "pcm" };
  for (const { code } of callSamples({ ...question, path: pathOf("speech"), body }))
    expect(code).toContain("speech.pcm");
});

test("a path that the SDKs do not know has a sample for curl alone", () => {
  const call = { baseUrl: "https://gateway.example", path: "/api/accounts/acc_1/keys/key_1" };
  expect(callSamples({ ...call, method: "DELETE", variable: "SVC_TOKEN" })).toEqual([
    {
      label: "curl",
      code: `curl https://gateway.example/api/accounts/acc_1/keys/key_1 \\
  -X DELETE \\
  -H "Authorization: Bearer $SVC_TOKEN"`,
    },
  ]);
});
