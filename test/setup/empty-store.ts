import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../src/app/store.ts";
import { loadConfiguration } from "../../src/config/load.ts";

let empty: Promise<string> | undefined;

/** A data directory as a first start leaves it: migrating takes half of a start, and is done once. */
export function emptyStore(): Promise<string> {
  empty ??= (async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "svc-empty-"));
    process.on("exit", () => rmSync(dataDir, { recursive: true, force: true }));
    const environment = { SVC_DATA_DIR: dataDir, SVC_CONFIG: "", SVC_ENGINE: "off" };
    await (await openStore(loadConfiguration(environment))).close();
    return dataDir;
  })();
  return empty;
}
