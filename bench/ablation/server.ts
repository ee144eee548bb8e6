/**
 * The server of a checkout (`BENCH_ROOT`) without the parts that `BENCH_WITHOUT` lists. All else is
 * the product's own code.
 */
import { Checkout } from "./checkout.ts";
import { toPartName } from "./parts.ts";
import { removals } from "./removals.ts";

const root = process.env["BENCH_ROOT"] ?? "";
const without = (process.env["BENCH_WITHOUT"] ?? "").split(",").filter((name) => name !== "");
const checkout = new Checkout(root);
for (const name of without) await removals[toPartName(name)](checkout, root);

// Only now: what is taken out must be replaced before it is used.
type Server = typeof import("../../src/app/server.ts");
type Config = typeof import("../../src/config/load.ts");
const { startServer } = await checkout.load<Server>("src/app/server.ts");
const { loadConfiguration } = await checkout.load<Config>("src/config/load.ts");
const server = await startServer({ configuration: loadConfiguration(), version: "bench" });
process.once("SIGTERM", () => {
  void server.stop().finally(() => process.exit());
});
