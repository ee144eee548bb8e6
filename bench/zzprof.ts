import { copyStock, prepareStock, startGateway } from "./gateway/gateway.ts";
import { openBench, proxyEnv, startTraffic } from "./load/processes.ts";
import { publicModel } from "./load/traffic.ts";
const kind = (Bun.argv[2] ?? "chat") as "chat" | "stream";
const { dir, children, run } = openBench();
await run(async () => {
  const { upstreamPort, generator } = await startTraffic(children);
  const stock = await prepareStock({ children, dir, upstreamPort, accounts: 50, keys: 100, env: proxyEnv, tell: console.error });
  const dataDir = copyStock(stock, "x");
  const orig = children.start.bind(children);
  children.start = (o) => orig({ ...o, args: ["--cpu-prof-md", "--cpu-prof-interval=200", "--cpu-prof-dir=/tmp/x/prof", `--cpu-prof-name=${kind}.md`, ...o.args] });
  const { child, port } = await startGateway({ children, name: "g", dataDir, configPath: stock.configPath, env: proxyEnv });
  const job = { kind, port, model: publicModel, keys: stock.keys, connections: kind === "chat" ? 64 : 200, requests: kind === "chat" ? 60000 : 200, chunks: kind === "chat" ? 0 : 400, timeoutMs: 60000 };
  await generator.ask({ ...job, requests: 3000, chunks: 5 }, 60000);
  const a = child.weigh().cpuMs;
  const r: any = await generator.ask(job, 60000);
  console.log(r, ((child.weigh().cpuMs - a) * 1000) / (kind === "chat" ? job.requests : job.requests * job.chunks));
  await child.stop();
});
