import { providerContract } from "./suite.ts";
import { vertexDialect } from "./vertex-dialect.ts";

providerContract(vertexDialect);
