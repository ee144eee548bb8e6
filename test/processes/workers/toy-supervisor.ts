import { join } from "node:path";
import { WorkerPool } from "../../../src/app/workers/pool.ts";
import { createLog } from "../../../src/base/log.ts";

/** A supervisor of toy workers in a process of its own, so that it can be killed. Arguments: port. */
const [, , port = ""] = process.argv;
const write = (line: string) => void process.stdout.write(line);
const pool = new WorkerPool({
  count: 3,
  command: (worker) => [
    process.execPath,
    join(import.meta.dir, "toy-worker.ts"),
    String(worker),
    port,
  ],
  nameOf: (worker) => `toy/${worker}`,
  environment: process.env,
  graceMs: 5_000,
  log: createLog({ level: "info", pretty: false, write }),
  onLog: () => {},
  askEngine: async () => undefined,
});
await pool.start();
write("started\n");
