import { geminiDialect } from "./gemini-dialect.ts";
import { providerContract } from "./suite.ts";

providerContract(geminiDialect);
