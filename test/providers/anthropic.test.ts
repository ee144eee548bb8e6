import { anthropicDialect } from "./anthropic-dialect.ts";
import { providerContract } from "./suite.ts";

providerContract(anthropicDialect);
