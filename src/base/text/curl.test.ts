import { expect, test } from "bun:test";
import { curlCommand } from "./curl.ts";

const url = "https://gateway.example/v1/chat/completions";

/** What the shell passes to curl. */
async function wordsOf(command: string): Promise<readonly string[]> {
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
  const child = Bun.spawn(["sh", "-c", script], { env: { KEY: "sk-1" }, stdout: "pipe" });
  return (await new Response(child.stdout).text()).split("\0").slice(0, -1);
}

test.each([" ", " \\\n  "])("a shell reads back every word, separated by %j", async (separator) => {
  const body = `It's "$HOME" \`id\` \\n !! %s\nand more`;
  const call = { url, bearer: "${KEY:?}", body, isStream: true, output: "it's.wav" };
  expect(await wordsOf(curlCommand(call, { separator }))).toEqual([
    url,
    "-N",
    "-H",
    "Authorization: Bearer sk-1",
    "-H",
    "Content-Type: application/json",
    "-o",
    "it's.wav",
    "-d",
    body,
  ]);
});

test("the method is named only where curl would choose another", () => {
  const curl = (method: string, body?: string) => curlCommand({ url, bearer: "k", method, body });
  expect(curl("GET")).not.toContain("-X");
  expect(curl("POST", "{}")).not.toContain("-X");
  expect(curl("POST")).toContain("-X POST");
  expect(curl("PATCH", "{}")).toContain("-X PATCH");
});

test("headers and the parts of a form are words of their own, and only files are read", async () => {
  const form = [
    { name: "file", value: "it's.wav", isFile: true },
    { name: "prompt", value: "@home; type=x" },
  ];
  const headers = { "anthropic-version": "2023-06-01" };
  expect(await wordsOf(curlCommand({ url, bearer: "k", headers, form }))).toEqual([
    url,
    "-H",
    "Authorization: Bearer k",
    "-H",
    "anthropic-version: 2023-06-01",
    "-F",
    "file=@it's.wav",
    "--form-string",
    "prompt=@home; type=x",
  ]);
});
