import type { Reply } from "../../../api.ts";

export type Details = Reply<"GET /api/accounts/:account/details">;
