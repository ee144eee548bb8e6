import type { Reply } from "../../api.ts";

export type Receipt = Reply<"GET /api/requests/:id">;
