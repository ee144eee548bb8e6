// Installs the embedded models' runtime libraries if they are missing.
import { checkMachine, ensureEngineInstalled } from "./install.mjs";

checkMachine();
ensureEngineInstalled();
