/** The product's server with a part of it replaced, as a process that stops as `svc serve` does. */
import type { ServerOptions } from "../../src/app/server.ts";

export async function serve(
  replaced: Pick<ServerOptions, "billing" | "rejections" | "open">,
): Promise<void> {
  // Loaded here: a caller may have to change something before.
  const { startServer } = await import("../../src/app/server.ts");
  const { loadConfiguration } = await import("../../src/config/load.ts");
  const configuration = loadConfiguration();
  const server = await startServer({ configuration, version: "bench", ...replaced });
  process.once("SIGTERM", () => {
    void server.stop().finally(() => process.exit());
  });
}
