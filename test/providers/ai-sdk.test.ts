import { aiSdkDialect } from "./ai-sdk-dialect.ts";
import { providerContract } from "./suite.ts";

providerContract(aiSdkDialect);
