import { type Called, type Cluster, type ClusterProcess, callOnce } from "./cluster.ts";

/** Clients that call without a pause, each time another gateway. */
export class Load {
  /** Requests whose reply came whole. */
  readonly served: string[] = [];
  /** How often each refusal came, by status and code. */
  readonly refused = new Map<string, number>();
  /** Of those since it was set back. */
  longestMs = 0;
  readonly #loops: Promise<void>[];
  #isOver = false;

  constructor(cluster: Cluster, key: string, clients: number) {
    this.#loops = Array.from({ length: clients }, (_, at) => this.#run(cluster, key, at));
  }

  async #run({ gateways }: Cluster, key: string, start: number): Promise<void> {
    for (let at = start; !this.#isOver; at++) {
      const gateway = gateways[at % gateways.length];
      if (gateway === undefined) return;
      const startMs = performance.now();
      const called = await callOnce(gateway, key);
      this.longestMs = Math.max(this.longestMs, performance.now() - startMs);
      if (called.status === 200) this.served.push(called.requestId);
      else {
        const name = `${called.status} ${called.code}`;
        this.refused.set(name, (this.refused.get(name) ?? 0) + 1);
        // One that is down would be called a thousand times a second.
        await Bun.sleep(20);
      }
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }
}

export interface Race {
  readonly served: number;
  readonly others: ReadonlyMap<string, number>;
}

/** All at once, evenly over the gateways. */
export async function raceForMoney(
  gateways: readonly ClusterProcess[],
  key: string,
  callers: number,
): Promise<Race> {
  const replies = await Promise.all(
    Array.from({ length: callers }, (_, at) =>
      callOnce(gateways[at % gateways.length] as ClusterProcess, key),
    ),
  );
  const others = new Map<string, number>();
  for (const { status, code } of replies)
    if (status !== 200) others.set(`${status} ${code}`, (others.get(`${status} ${code}`) ?? 0) + 1);
  return { served: replies.filter(({ status }) => status === 200).length, others };
}

/** Kills one after the other, in the middle of calls, and starts it again. */
export async function killGateways(
  { gateways }: Cluster,
  rounds: number,
  onRound: (round: number) => void = () => {},
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const gateway = gateways[round % gateways.length];
    await Bun.sleep(50 + Math.random() * 150);
    await gateway?.kill();
    await gateway?.start();
    onRound(round + 1);
  }
}

/** Calls until the key is refused; how long it still was served, by every gateway. */
export async function untilRefused(
  { gateways }: Cluster,
  key: string,
  change: () => Promise<unknown>,
): Promise<readonly number[]> {
  await change();
  const changedMs = performance.now();
  return Promise.all(
    gateways.map(async (gateway) => {
      for (let servedMs = 0; ; ) {
        const sentMs = performance.now() - changedMs;
        const { status } = await callOnce(gateway, key);
        if (status === 401 || status === 403) return servedMs;
        if (status === 200) servedMs = sentMs;
        await Bun.sleep(10);
      }
    }),
  );
}

/** Until a call is served again. */
export async function untilServed(gateway: ClusterProcess, key: string): Promise<Called> {
  for (;;) {
    const called = await callOnce(gateway, key);
    if (called.status === 200) return called;
    await Bun.sleep(50);
  }
}
