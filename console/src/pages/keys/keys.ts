import type { Reply } from "../../api.ts";

export type Key = Reply<"GET /api/accounts/:account/keys">[number];
export type NewKey = Reply<"POST /api/accounts/:account/keys">;
export type Model = Reply<"GET /api/accounts/:account/models">[number];

/** What a key is called where it is spoken of; without a name, by its hint. */
export const nameOf = ({ name, hint }: Pick<Key, "name" | "hint">) => (name === "" ? hint : name);
