import { operatorRoute } from "../context.ts";
import { purgedReply } from "./schemas.ts";

const route = operatorRoute("accounts");

/** What callers have stored can be deleted here, and read by them alone. */
export const responseRoutes = [
  route("DELETE /api/accounts/:account/responses", {
    about:
      "Deletes all stored responses of an account. Conversations that callers continue by `previous_response_id` end with it.",
    reply: purgedReply,
    handle: ({ operations, account }) => operations.responses.purge({ account: account.id }),
  }),
] as const;
