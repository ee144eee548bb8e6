import { providerContract } from "../suite.ts";
import { geminiDialect } from "./gemini.ts";

providerContract(geminiDialect);
