// Installs what the console's bundle is made of, if it is missing.
import { checkMachine, ensureConsoleInstalled } from "./install.mjs";

checkMachine();
ensureConsoleInstalled();
