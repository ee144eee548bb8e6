import { providerContract } from "../suite.ts";
import { responsesOnlyDialect } from "./openai-responses.ts";

providerContract(responsesOnlyDialect);
