/**
 * What a call costs the gateway while someone watches the overview: load as in the other rounds,
 * with and without a watcher by turns. A watcher costs something a second and not a request, so it
 * is also measured beside a few calls, where little else happens.
 */
import type { LoadJob, LoadResult } from "../load/job.ts";
import type { Child } from "../load/processes.ts";
import { publicModel } from "../load/traffic.ts";
import type { Tell } from "./data.ts";
import type { Served } from "./server.ts";
import { costWatched, type WatchedCost, watchWhile } from "./watch.ts";

type WatchedOptions = {
  readonly served: Served;
  readonly generator: Child;
  readonly rounds: number;
  /** A round. */
  readonly requests: number;
  readonly watchers: number;
  readonly tell: Tell;
};

const connections = 64;
/** As often as the page asks for the sums again while calls come in. */
const refreshMs = 3_000;
/** What was put off until after the last reply is still part of the cost. */
const settleMs = 150;
const jobTimeoutMs = 120_000;
const fewSeconds = 12;
const fewASecond = 20;
const loads = 2;

export async function measureWatched(
  options: WatchedOptions,
): Promise<Readonly<Record<string, WatchedCost>>> {
  const { served, generator, rounds, requests, watchers, tell } = options;
  const { child } = served;
  const send = (job: Pick<LoadJob, "connections" | "requests">) =>
    sendAll({ served, generator, ...job });
  let step = 0;
  const shared = {
    rounds,
    cpuMs: () => child.weigh().cpuMs,
    watch: () => watchAll(served, watchers),
    step: (label: string) => tell(label, step++ / (2 * loads * rounds)),
  };
  const many = await costWatched({
    ...shared,
    load: () => send({ connections, requests }),
  });
  const few = await costWatched({
    ...shared,
    load: async () => {
      for (let second = 0; second < fewSeconds; second++) {
        const startedMs = performance.now();
        await send({ connections: 1, requests: fewASecond });
        await Bun.sleep(Math.max(0, 1_000 - (performance.now() - startedMs)));
      }
      return fewSeconds * fewASecond;
    },
  });
  return {
    [`${requests} chats over ${connections} connections`]: many,
    [`${fewASecond} chats per second`]: few,
  };
}

async function sendAll(options: {
  readonly served: Served;
  readonly generator: Child;
  readonly connections: number;
  readonly requests: number;
}): Promise<number> {
  const { served, generator, connections, requests } = options;
  const job: LoadJob = {
    kind: "chat",
    port: served.port,
    model: publicModel,
    keys: served.keys,
    connections,
    requests,
    chunks: 0,
    timeoutMs: jobTimeoutMs,
  };
  const result = (await generator.ask(job, jobTimeoutMs * 2)) as LoadResult;
  await Bun.sleep(settleMs);
  if (result.failures > 0 || result.replies !== requests)
    throw new Error(
      `${result.failures} of ${requests} calls failed; the first: ${result.firstFailure ?? "replies are missing"}\n${served.child.lastWords()}`,
    );
  return requests;
}

type Watcher = { readonly stop: () => Promise<void> };

async function watchAll(served: Served, watchers: number): Promise<Watcher> {
  const all = await Promise.all(Array.from({ length: watchers }, () => watch(served)));
  return {
    async stop() {
      await Promise.all(all.map((one) => one.stop()));
    },
  };
}

/** The operator's page, without its picture: hears the news and asks for the sums again. */
async function watch({ platformUrl, operator: { headers } }: Served): Promise<Watcher> {
  const leave = new AbortController();
  const ask = async (path: string) => {
    const response = await fetch(`${platformUrl}${path}`, { headers, signal: leave.signal });
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
    return response;
  };
  const { body } = await ask("/api/live");
  if (body === null) throw new Error("there is no stream of news");
  let news = 0;
  const hearing = (async () => {
    for await (const text of body.pipeThrough(new TextDecoderStream()))
      if (text.includes("event: news")) news++;
  })();
  // It ends when we leave, and no other way.
  hearing.catch(() => {});
  const asking = watchWhile(
    async () => (await ask("/api/usage?range=24h&by=model")).arrayBuffer(),
    refreshMs,
  );
  return {
    async stop() {
      await asking.stop();
      leave.abort();
      await hearing.catch(() => {});
      if (news === 0)
        throw new Error(
          "the watcher received nothing: updates come once per second, and the round was shorter",
        );
    },
  };
}
