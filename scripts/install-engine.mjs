// Installs the embedded models' runtime libraries if they are missing. An installed package names the
// folders: install-engine.mjs LIBRARIES SOURCES.
import { checkMachine, ensureEngineInstalled } from "./install.mjs";

const [libraries, sources] = process.argv.slice(2);
checkMachine();
ensureEngineInstalled({ libraries, sources });
