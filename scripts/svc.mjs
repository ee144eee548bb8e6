#!/usr/bin/env node
// The `svc` command.
import { start } from "./start.mjs";

start(process.argv.slice(2));
