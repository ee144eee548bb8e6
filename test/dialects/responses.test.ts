import { responsesDriver } from "./drivers/responses.ts";
import { dialectContract } from "./suite.ts";

dialectContract(responsesDriver);
