import { quirksOf } from "../../../src/catalog/vendors.ts";
import { providerContract } from "../suite.ts";
import { openAiDialect } from "./openai.ts";

/** What is common, and the vendors that differ from it in the name of the cap or of the key's header. */
for (const vendor of ["vllm", "groq", "azure"])
  providerContract(openAiDialect({ name: `openai (${vendor})`, quirks: quirksOf(vendor, "") }));
