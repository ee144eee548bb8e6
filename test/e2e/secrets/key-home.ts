import { afterEach, beforeEach } from "bun:test";
import { join } from "node:path";
import { chatJson } from "../../fake/openai/chat-json.ts";
import type { FakeUpstream } from "../../fake/upstream.ts";
import { type ChildServer, createHome, type Home } from "../../setup/child.ts";
import { useFakeUpstream } from "../../setup/use-upstream.ts";

/** An upstream for all tests of a file, and for each of them a place to run `svc` in. */
export interface KeyHome {
  readonly upstream: FakeUpstream;
  readonly home: Home;
  /** Of a file beside the data directory. */
  path(name: string): string;
}

export async function useKeyHome(): Promise<() => KeyHome> {
  const upstream = await useFakeUpstream(chatJson());
  let home: Home;
  beforeEach(() => {
    home = createHome();
  });
  afterEach(() => home.remove());
  return () => ({ upstream, home, path: (name) => join(home.dataDir, "..", name) });
}

/** One chat: its status, and the key that the upstream was sent. */
export async function sentKey(
  server: Pick<ChildServer, "post">,
  upstream: FakeUpstream,
  model = "svc-3-flash",
): Promise<{ status: number; sent: string | null }> {
  const { length } = upstream.requests;
  const messages = [{ role: "user", content: "Hello" }];
  const reply = await server.post("/chat/completions", { model, max_tokens: 5, messages });
  await reply.text();
  const request = upstream.requests[length];
  return { status: reply.status, sent: request?.headers["authorization"] ?? null };
}

/** Each provider with a model that is called like it. */
export function keyManifest(
  { baseUrl }: FakeUpstream,
  keys: Readonly<Record<string, string>>,
): string {
  const providers = Object.entries(keys).map(
    ([name, key]) =>
      `  ${name}: { kind: openai, base_url: "${baseUrl}", api_key: '${key}', allow_private: true }`,
  );
  const models = Object.keys(keys).map(
    (name) =>
      `  ${name}: { endpoint: chat, max_output_tokens: 100, price: { input: 1, output: 1 }, routes: [{ provider: ${name}, model: x }] }`,
  );
  return ["providers:", ...providers, "models:", ...models, ""].join("\n");
}
