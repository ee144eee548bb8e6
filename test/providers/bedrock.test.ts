import { bedrockKeyDialect, bedrockSignedDialect } from "./bedrock-dialect.ts";
import { providerContract } from "./suite.ts";

for (const dialect of [bedrockKeyDialect, bedrockSignedDialect]) providerContract(dialect);
