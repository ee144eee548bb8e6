/** The formats in which chat models are called, in the order in which they are offered. */
export const dialects = [
  { id: "chat", label: "Chat Completions", path: "/chat/completions" },
  { id: "responses", label: "Responses", path: "/responses" },
  { id: "messages", label: "Messages", path: "/messages" },
] as const;

export type DialectId = (typeof dialects)[number]["id"];

/** The first one where none has this name. */
export const dialectOf = (id: string | undefined) =>
  dialects.find((dialect) => dialect.id === id) ?? dialects[0];
