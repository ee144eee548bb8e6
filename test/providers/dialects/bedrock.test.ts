import { providerContract } from "../suite.ts";
import { bedrockKeyDialect, bedrockSignedDialect } from "./bedrock.ts";

for (const dialect of [bedrockKeyDialect, bedrockSignedDialect]) providerContract(dialect);
