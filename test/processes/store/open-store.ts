import { openStore } from "../../../src/app/store.ts";
import { loadConfiguration } from "../../../src/config/load.ts";

/** Opens the store of SVC_DATA_DIR as the user that is passed, and prints why that failed. */
const uid = Number(process.argv[2]);
if (process.getuid?.() === 0) {
  process.setgid?.(uid);
  process.setuid?.(uid);
}
try {
  const { close } = await openStore(loadConfiguration());
  await close();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
