import { join } from "node:path";
import { type RunningServer, startServer } from "../../../src/app/server.ts";
import { loadConfiguration } from "../../../src/config/load.ts";
import { cheapPasswords } from "../../setup/cheap-passwords.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { freePort } from "../../setup/platform-home.ts";

/** A gateway that is stopped and started again at the same address, with the same data. */
export interface Restartable {
  /** With the server that runs now, or ran last. */
  readonly gateway: TestGateway;
  stop(): Promise<void>;
  start(): Promise<void>;
  end(): Promise<void>;
}

export async function startRestartable(
  environment: Readonly<Record<string, string>> = {},
): Promise<Restartable> {
  const ports = { SVC_PORT: freePort(), SVC_PLATFORM_PORT: freePort() };
  const gateway = await startTestGateway({ environment: { ...ports, ...environment } });
  let server: RunningServer = gateway.server;
  let isRunning = true;
  const stop = async () => {
    if (isRunning) await server.stop();
    isRunning = false;
  };
  return {
    get gateway() {
      return { ...gateway, server };
    },
    stop,
    async start() {
      server = await startServer({
        reportLimitMs: 120_000,
        version: "0.0.0-test",
        passwordCost: cheapPasswords,
        configuration: loadConfiguration({
          ...ports,
          SVC_DATA_DIR: gateway.dataDir,
          SVC_CONFIG: join(gateway.dataDir, "svc.yaml"),
          SVC_LOG_LEVEL: "silent",
          SVC_ENGINE: "off",
          FAKE_KEY: "vendor-secret",
          ...environment,
        }),
      });
      isRunning = true;
    },
    async end() {
      await stop();
      await gateway.stop();
    },
  };
}
