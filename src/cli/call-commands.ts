import { chat } from "./chat-command.ts";
import type { Command } from "./command.ts";
import { embed } from "./embed-command.ts";
import { say } from "./say-command.ts";

/** Commands that call the running gateway over HTTP, as any client does. */
export const callCommands: readonly Command[] = [chat, embed, say];
