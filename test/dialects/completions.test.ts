import { completionsDriver } from "./drivers/completions.ts";
import { dialectContract } from "./suite.ts";

dialectContract(completionsDriver);
