/** The wire formats in which a chat model can be called. */
export const dialects = ["chat", "responses", "messages", "completions"] as const;
export type Dialect = (typeof dialects)[number];
