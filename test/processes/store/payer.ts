import { connectControl } from "../../../src/platform/control-socket.ts";
import type { ChildServer } from "../../setup/child.ts";

/** An account with money, made through the server that runs in the data directory; its key. */
export async function openPayer(dataDir: string, usd: string): Promise<string> {
  const { operations } = (await connectControl(dataDir)) ?? {};
  if (operations === undefined) throw new Error("no server answers at the control socket");
  await operations.accounts.create({ name: "payer" });
  await operations.entries.add({ account: "payer", kind: "credit", usd, reference: "start" });
  return (await operations.keys.create({ account: "payer" })).key;
}

export const callModel = ({ baseUrl }: ChildServer, key: string, more: object = {}) =>
  fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "svc-3-flash",
      messages: [{ role: "user", content: "Hello" }],
      ...more,
    }),
  });

/** The id of its receipt. */
export async function payForCall(server: ChildServer, key: string): Promise<string> {
  const reply = await callModel(server, key);
  if (reply.status !== 200) throw new Error(`the call got ${reply.status}: ${await reply.text()}`);
  await reply.json();
  return reply.headers.get("x-request-id") ?? "";
}
