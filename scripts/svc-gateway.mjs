#!/usr/bin/env node
// What `npx svc-gateway` runs: the server, or the command that is named.
import { start } from "./start.mjs";

const words = process.argv.slice(2);
start(words.length === 0 ? ["serve"] : words);
