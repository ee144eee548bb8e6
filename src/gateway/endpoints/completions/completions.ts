import { textCompletions } from "../../../wire/v1/completions/dialect.ts";
import type { ServedCall } from "../../served-call.ts";
import { serveChat } from "../chat/serve-chat.ts";

/** POST /v1/completions: legacy, for models whose provider has it. */
export const serveCompletions = (served: ServedCall) => serveChat(served, textCompletions);
