import { Type } from "../../base/json/type.ts";
import type { View } from "../http/schemas.ts";

const totals = {
  responses: Type.Integer({ description: "Number of stored responses." }),
  bytes: Type.Integer({ description: "Their size in the database." }),
};

/** What callers have stored; nobody but them can read it. */
export const storedReply = Type.Object(totals);

export const purgedReply = Type.Object({ account: Type.String(), ...totals });
export type PurgedView = View<typeof purgedReply>;
