import { providerContract } from "../suite.ts";
import { anthropicDialect } from "./anthropic.ts";

providerContract(anthropicDialect);
