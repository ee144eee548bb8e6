/**
 * Whether a gateway of the chain has the parts that it should have, and no others: as far as its
 * replies and its store show it. A part that was not taken out would look like one that costs
 * nothing.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { publicModel } from "../load/traffic.ts";
import type { PartName } from "./parts.ts";

interface Checked {
  readonly name: string;
  readonly without: readonly PartName[];
}

/** How many calls `checkReplies` has served. */
export const checkedCalls = 2;

export async function checkReplies(
  gateway: Checked & { readonly port: number; readonly key: string },
): Promise<void> {
  const { port, key } = gateway;
  const first = await ask({ port, key });
  const second = await ask({ port, key });
  const stranger = await ask({ port, key: `${key}x` });
  const hot = await ask({ port, key, temperature: "hot" });
  if (first.status !== 200 || second.status !== 200)
    throw new Error(`${gateway.name}: a call got status ${first.status}, ${second.status}`);
  const idOf = ({ headers }: Response) => headers.get("x-request-id");
  expectParts(gateway, {
    key: stranger.status === 401,
    validation: hot.status === 400,
    headers: idOf(first) !== idOf(second),
    limits: first.headers.has("x-ratelimit-limit-requests"),
  });
}

/** Of a gateway that has stopped. */
export function checkStore(
  gateway: Checked & { readonly dataDir: string; readonly calls: number },
): void {
  const database = new Database(join(gateway.dataDir, "svc.db"));
  try {
    const counted = database.query<{ receipts: number; sums: number }, []>(
      "select (select count(*) from receipts) as receipts, (select count(*) from rollups) as sums",
    );
    const { receipts = 0, sums = 0 } = counted.get() ?? {};
    const hasReceipts = !gateway.without.includes("receipt");
    const expected = hasReceipts ? gateway.calls : 0;
    if (receipts !== expected)
      throw new Error(`${gateway.name}: ${receipts} receipts in place of ${expected}`);
    // Without receipts there is nothing to add up.
    if (hasReceipts) expectParts(gateway, { sums: sums > 0 });
  } finally {
    database.close();
  }
}

function expectParts(
  { name, without }: Checked,
  found: Readonly<Partial<Record<PartName, boolean>>>,
): void {
  for (const [part, isThere] of Object.entries(found))
    if (isThere === without.some((one) => one === part))
      throw new Error(`${name}: ${part} is ${isThere ? "still there" : "missing"}`);
}

async function ask(options: {
  readonly port: number;
  readonly key: string;
  readonly temperature?: unknown;
}): Promise<Response> {
  const { port, key, temperature = 1 } = options;
  const messages = [{ role: "user", content: "Hello" }];
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: publicModel, messages, temperature, max_tokens: 16 }),
    signal: AbortSignal.timeout(5_000),
  });
  await response.text();
  return response;
}
