import { chatDriver } from "./drivers/chat.ts";
import { dialectContract } from "./suite.ts";

dialectContract(chatDriver);
