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

export function callModel(server: ChildServer, key: string, more: object = {}) {
  const messages = [{ role: "user", content: "Hello" }];
  return server.post("/chat/completions", { model: "svc-3-flash", messages, ...more }, key);
}

/** The id of its receipt. */
export async function payForCall(server: ChildServer, key: string): Promise<string> {
  const reply = await callModel(server, key);
  if (reply.status !== 200) throw new Error(`the call got ${reply.status}: ${await reply.text()}`);
  await reply.json();
  return reply.headers.get("x-request-id") ?? "";
}
