import { providerContract, requestContract } from "../suite.ts";
import { bedrockKeyDialect, bedrockSignedDialect } from "./bedrock.ts";

providerContract(bedrockSignedDialect);
// What is answered does not depend on how a request proves who sends it.
requestContract(bedrockKeyDialect);
