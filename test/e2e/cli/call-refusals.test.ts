import { expect, test } from "bun:test";
import { useCallHome } from "../../setup/call-home.ts";

const calls = await useCallHome();

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
