/** A node of two is drained and resumed under load, behind nginx, Caddy and HAProxy. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { Cluster, type ClusterProcess, model } from "../cluster/cluster.ts";
import { fixtureBytes } from "../fixtures/media/fixture.ts";
import { waitUntil } from "../setup/money-home.ts";
import { choosePorts, hosts, type Proxy, type ProxyKind, startProxy } from "./proxy.ts";

setDefaultTimeout(180_000);

const png = `data:image/png;base64,${Buffer.from(fixtureBytes("tiny.png")).toString("base64")}`;
const callers = 8;
/** Calls before the drain, after it, and after the node is resumed. */
const callsEach = 150;

let cluster: Cluster;
let key: string;

beforeAll(async () => {
  cluster = await Cluster.start({
    gateways: 2,
    // Longer than Caddy and HAProxy need to notice.
    environment: { SVC_DRAIN_S: "6", SVC_LOG_LEVEL: "info" },
  });
  ({ key } = await cluster.openAccount("load", "100"));
});
afterAll(() => cluster.stop());

const portOf = (gateway: ClusterProcess | undefined) => new URL(gateway?.origin ?? "").port;

const stateOf = async (name: string) => {
  const { nodes } = await cluster.operate((operations) => operations.nodes.list({}));
  return nodes.find((node) => node.name === name)?.state;
};

/** Callers that call one after another until they are stopped. */
function startLoad(https: string, { authority }: Proxy) {
  const failed: string[] = [];
  let served = 0;
  const over = new AbortController();
  const call = async () => {
    const response = await fetch(`https://127.0.0.1:${https}/v1/embeddings`, {
      method: "POST",
      headers: {
        host: hosts.gateway,
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ model, input: [png] }),
      tls: { ca: authority, serverName: hosts.gateway },
    });
    const text = await response.text();
    if (response.status === 200) served++;
    else failed.push(`${response.status} ${text.slice(0, 200)}`);
  };
  const all = Array.from({ length: callers }, async () => {
    while (!over.signal.aborted) await call().catch((error: unknown) => failed.push(String(error)));
  });
  return {
    failed,
    get served() {
      return served;
    },
    async more(): Promise<void> {
      const until = served + callsEach;
      await waitUntil("more calls", () => served >= until || failed.length > 0);
    },
    async stop(): Promise<void> {
      over.abort();
      await Promise.all(all);
    },
  };
}

test.each(["nginx", "caddy", "haproxy"] as const)(
  "no call fails while a node behind %s is drained and resumed, and none is paid twice",
  async (kind: ProxyKind) => {
    const [first, second] = cluster.gateways;
    const ports = { ...choosePorts(), gateway: portOf(first) };
    const proxy = await startProxy(kind, ports, portOf(second));
    const before = cluster.upstream.requests.length;
    const load = startLoad(ports.https, proxy);
    try {
      await load.more();
      await cluster.operate((operations) => operations.nodes.drain({ name: "node-2" }));
      await waitUntil("node-2 to be drained", async () => (await stateOf("node-2")) === "drained");
      await load.more();
      await cluster.operate((operations) => operations.nodes.resume({ name: "node-2" }));
      await waitUntil("node-2 to run", async () => (await stateOf("node-2")) === "running");
      await load.more();
    } finally {
      await load.stop();
      await proxy.stop();
    }
    process.stdout.write(`${kind}: ${load.served} served, ${load.failed.length} failed\n`);
    expect(load.failed).toEqual([]);
    expect(cluster.upstream.requests.length - before).toBe(load.served);
  },
);
