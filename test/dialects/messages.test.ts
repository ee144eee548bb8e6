import { messagesDriver } from "./drivers/messages.ts";
import { dialectContract } from "./suite.ts";

dialectContract(messagesDriver);
