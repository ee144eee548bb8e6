/** What the overview's page asks the platform for when it opens, over HTTP and all at once. */
import type { Visitor } from "../../test/setup/platform-home.ts";
import type { Tell } from "./data.ts";
import type { Served } from "./server.ts";
import { type Result, resultOf } from "./table.ts";

const times = 20;
const newestRows = 8;
const timeoutMs = 30_000;
const ranges = ["1h", "24h", "7d", "30d", "90d"] as const;

type Opening = { readonly name: string; readonly open: () => Promise<number> };

export async function measureReplies(options: {
  readonly served: Served;
  readonly tell: Tell;
}): Promise<readonly Result[]> {
  const { served, tell } = options;
  const results: Result[] = [];
  const all = openings(served);
  for (const [at, { name, open }] of all.entries()) {
    tell(name, at / all.length);
    const beforeMs = served.child.weigh().cpuMs;
    const tookMs: number[] = [];
    let bytes = 0;
    for (let time = 0; time < times; time++) {
      const startedMs = performance.now();
      bytes = await open();
      tookMs.push(performance.now() - startedMs);
    }
    // The kernel counts in steps of 10 ms: of one opening alone it says nothing.
    const cpuMs = (served.child.weigh().cpuMs - beforeMs) / times;
    results.push(resultOf({ name, tookMs, cpuMs, size: bytes }));
  }
  return results;
}

function openings({ platformUrl, operator, owner, account }: Served): readonly Opening[] {
  const place = `/api/accounts/${account}`;
  const at = (who: Visitor) => ({ platformUrl, headers: who.headers });
  return ranges.flatMap((range) => [
    ...["model", "account", "key"].map((by) => ({
      name: `${range}, operator, by ${by}`,
      open: () =>
        openPage({
          ...at(operator),
          replies: [`/api/usage?range=${range}&by=${by}`],
          newest: `/api/requests?limit=${newestRows}`,
          live: "/api/live",
        }),
    })),
    ...["model", "key"].map((by) => ({
      name: `${range}, one account, by ${by}`,
      open: () =>
        openPage({
          ...at(owner),
          replies: [
            ...new Set([
              `${place}/usage?range=${range}&by=${by}`,
              // For the words on how long the balance lasts.
              `${place}/usage?range=24h&by=model`,
              place,
            ]),
          ],
          newest: `${place}/requests?limit=${newestRows}`,
          live: `${place}/live`,
        }),
    })),
  ]);
}

/** Until the last reply is here, the newest requests twice: they are asked for again once it is live. */
async function openPage(page: {
  readonly platformUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly replies: readonly string[];
  readonly newest: string;
  readonly live: string;
}): Promise<number> {
  const { platformUrl, headers, replies, newest, live } = page;
  const leave = new AbortController();
  const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(timeoutMs)]);
  const ask = async (path: string) => {
    const response = await fetch(`${platformUrl}${path}`, { headers, signal });
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    return response;
  };
  const read = async (path: string) => (await (await ask(path)).arrayBuffer()).byteLength;
  const listen = async () => {
    const reader = (await ask(live)).body?.getReader();
    await reader?.read();
    return read(newest);
  };
  try {
    const sizes = await Promise.all([...[...replies, newest].map(read), listen()]);
    return sizes.reduce((sum, size) => sum + size, 0);
  } finally {
    leave.abort();
  }
}
