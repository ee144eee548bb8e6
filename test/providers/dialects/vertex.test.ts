import { providerContract } from "../suite.ts";
import { vertexDialect } from "./vertex.ts";

providerContract(vertexDialect);
