// What both commands of the package do: `svc`, and `svc-gateway`, which serves if it gets no words.
import { existsSync, realpathSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
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
  const more = { SVC_COMMAND: commandName({ root, isClone }) };
  run(program, ["--no-env-file", join(root, "src", "main.ts"), ...words], more);
}

/** How the user runs commands in the current folder, for hints (src/config/launcher.ts). */
export function commandName({ root, isClone }) {
  // npm and npx put these folders in front, for the command that they run and no longer.
  const folders = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !/node_modules\/\.bin\/?$/.test(folder));
  const [found] = folders.map((folder) => join(folder, "svc")).filter((path) => existsSync(path));
  if (found !== undefined && realpathSync(found).startsWith(`${realpathSync(root)}/`)) return "svc";
  const folder = process.cwd();
  if (isClone) return folder === root ? "./svc" : join(root, "svc");
  return existsSync(join(folder, "node_modules", ".bin", "svc")) ? "npx svc" : "svc";
}
