#!/usr/bin/env node
// The `svc` command: makes sure that Bun and the dependencies are there, then hands over to Bun.
import { join } from "node:path";
import { bun, checkMachine, ensureConsoleBuilt, ensureInstalled, root } from "./install.mjs";
import { run } from "./run.mjs";

checkMachine();
ensureInstalled({ withTools: false });
// The gateway is worth starting without it: the platform then says what is missing.
if (process.argv[2] === "serve") ensureConsoleBuilt();
run(bun, ["--no-env-file", join(root, "src", "main.ts"), ...process.argv.slice(2)]);
