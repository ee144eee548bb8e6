import type { FakeUpstream } from "../../fake/upstream.ts";
import type { ChildServer } from "../../setup/child.ts";

/** One chat: its status, and the key that the upstream was sent. */
export async function sentKey(
  server: Pick<ChildServer, "baseUrl" | "key">,
  upstream: FakeUpstream,
  model = "svc-3-flash",
): Promise<{ status: number; sent: string | null }> {
  const { length } = upstream.requests;
  const reply = await fetch(`${server.baseUrl}/chat/completions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${server.key}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      model,
      max_tokens: 5,
      messages: [{ role: "user", content: "Hello" }],
    }),
  });
  await reply.text();
  const request = upstream.requests[length];
  return { status: reply.status, sent: request?.headers["authorization"] ?? null };
}
