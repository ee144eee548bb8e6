import { providerContract } from "../suite.ts";
import { aiSdkDialect } from "./ai-sdk.ts";

providerContract(aiSdkDialect);
