// Installs the embedded models' runtime libraries, if they are not there yet.
import { checkMachine, ensureEngineInstalled } from "./install.mjs";

checkMachine();
ensureEngineInstalled();
