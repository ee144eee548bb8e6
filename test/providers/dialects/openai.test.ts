import { quirksOf } from "../../../src/catalog/vendors.ts";
import { providerContract, requestContract, transportContract } from "../suite.ts";
import { openAiDialect } from "./openai.ts";

const dialectOf = (vendor: string) =>
  openAiDialect({ name: `openai (${vendor})`, quirks: quirksOf(vendor, "") });

providerContract(dialectOf("vllm"));
transportContract(dialectOf("vllm"));
// These differ in the name of the cap, or of the key's header.
for (const vendor of ["groq", "azure"]) requestContract(dialectOf(vendor));
