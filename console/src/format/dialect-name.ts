import { type Dialect, dialects } from "../../../src/call/dialect.ts";

/** The names that the vendors' documentation uses. */
export const dialectNames: Readonly<Record<Dialect, string>> = {
  chat: "Chat Completions",
  responses: "Responses",
  messages: "Messages",
  completions: "Completions",
};

/** A newer gateway may have more of them. */
export function dialectName(name: string): string {
  const known = dialects.find((dialect) => dialect === name);
  return known === undefined ? name : dialectNames[known];
}
