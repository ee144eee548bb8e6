import packageJson from "../package.json" with { type: "json" };
import { runCli } from "./cli/cli.ts";
import type { Wiring } from "./cli/command.ts";
import { printServing } from "./cli/welcome.ts";
import { loadConfiguration } from "./config/load.ts";
import { withOperations } from "./open.ts";

const { version } = packageJson;

const wiring: Wiring = {
  configuration: () => loadConfiguration(),
  withOperations: (run) => withOperations(loadConfiguration(), run),
  serve,
};

/** Runs until a signal asks it to stop; a second one ends it at once. */
async function serve(): Promise<void> {
  const configuration = loadConfiguration();
  // Loaded here, so that the other commands start without it.
  const { startServer } = await import("./server.ts");
  const server = await startServer(configuration, version);
  process.on("unhandledRejection", (reason) =>
    server.log.error("unhandled rejection", { detail: String(reason) }),
  );
  // Before the first word is printed: whoever reads it may stop us at once.
  const stopped = new Promise<void>((resolve) => {
    let firstMs: number | undefined;
    const onSignal = () => {
      // A terminal's ctrl-c reaches us twice, directly and through npm: that is one wish.
      if (firstMs !== undefined && Date.now() - firstMs > 500) process.exit(130);
      if (firstMs !== undefined) return;
      firstMs = Date.now();
      server.log.info("stopping: running calls may finish", {
        within_s: configuration.settings.graceMs / 1000,
      });
      void server.stop().then(resolve, (error: unknown) => {
        server.log.error("stopping failed", { detail: String(error) });
        process.exit(1);
      });
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
  await printServing({ server, configuration, version });
  await stopped;
}

process.exit(await runCli(process.argv.slice(2), wiring, version));
