#!/usr/bin/env node
// The `svc` command: installs Bun and the dependencies if needed, then runs Bun.
import { join } from "node:path";
import { bun, checkMachine, ensureConsoleBuilt, ensureInstalled, root } from "./install.mjs";
import { run } from "./run.mjs";

checkMachine();
ensureInstalled({ withTools: false });
// The gateway also works without it; the platform then reports that it is missing.
const words = process.argv.slice(2);
const isHelp = words.includes("--help") || words.includes("-h");
if (["serve", "platform"].includes(words[0]) && !isHelp) ensureConsoleBuilt();
run(bun, ["--no-env-file", join(root, "src", "main.ts"), ...words]);
