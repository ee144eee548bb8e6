// What both commands of the package do: `svc`, and `svc-gateway`, which serves if it gets no words.
import { join } from "node:path";
import {
  bun,
  checkMachine,
  ensureConsoleBuilt,
  ensureInstalled,
  isClone,
  root,
} from "./install.mjs";
import { packagedBun } from "./packaged-bun.mjs";
import { run } from "./run.mjs";

/** A clone installs and builds what is missing. A package came with it. */
export function start(words) {
  checkMachine();
  if (isClone) {
    ensureInstalled({ withTools: false });
    // The gateway also works without it; the platform then reports that it is missing.
    const isHelp = words.includes("--help") || words.includes("-h");
    if (["serve", "platform"].includes(words[0]) && !isHelp) ensureConsoleBuilt();
  }
  const program = isClone ? bun : packagedBun(root);
  run(program, ["--no-env-file", join(root, "src", "main.ts"), ...words]);
}
