import { expect, test } from "bun:test";
import { type CodeOptions, toSamples } from "./code-samples.ts";

const chat: CodeOptions = {
  endpoint: "chat",
  baseUrl: "https://gateway.example/v1",
  body: {
    model: "svc-3-flash",
    messages: [{ role: "user", content: `It's "so"\nand ${"`${x}`"} \\ too` }],
    temperature: 0.2,
    response_format: { type: "json_object" },
    stream: true,
  },
};
const codeOf = (options: CodeOptions, label: string) =>
  toSamples(options).find((sample) => sample.label === label)?.code ?? "";

test("what a shell makes of the curl sample is the very body, quotes and all", async () => {
  const code = codeOf(chat, "curl").replace(/^curl /, "printf '%s\\n' ");
  const child = Bun.spawn(["sh", "-c", code], { env: { SVC_API_KEY: "sk-1" }, stdout: "pipe" });
  const said = await new Response(child.stdout).text();
  expect(said).toContain("https://gateway.example/v1/chat/completions");
  expect(said).toContain("Authorization: Bearer sk-1");
  expect(JSON.parse(said.slice(said.indexOf("\n{") + 1))).toEqual(chat.body);
});

test("the object in the TypeScript sample is the very body", () => {
  const code = codeOf(chat, "TypeScript");
  const literal = /create\(([\s\S]*?)\);\nfor await/.exec(code)?.[1] ?? "";
  expect(new Function(`return (${literal});`)()).toEqual(chat.body);
});

test("Python has its own words for true and null, and takes fields as names", () => {
  const code = codeOf({ ...chat, body: { ...chat.body, seed: null } }, "Python");
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
  for (const each of [body, video])
    for (const { code } of toSamples({ ...chat, endpoint: "embeddings", body: each })) {
      expect(code.length).toBeLessThan(1_000);
      expect(code).toContain("…");
    }
});

test("speech is written to a file of its format", () => {
  const body = { model: "svc-2.5-flash-tts", input: "Hi", voice: "Kore", response_format: "pcm" };
  for (const { code } of toSamples({ ...chat, endpoint: "speech", body }))
    expect(code).toContain("speech.pcm");
});
