import { argv } from "node:process";

/** Runs `svc` as the user that is passed first; only root can become another one. */
const [uid, ...words] = argv.slice(2);
if (process.getuid?.() === 0) {
  process.setgid?.(Number(uid));
  process.setuid?.(Number(uid));
}
argv.splice(2, argv.length, ...words);
await import("../../../src/main.ts");
