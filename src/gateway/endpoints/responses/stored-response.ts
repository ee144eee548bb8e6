import { ApiError } from "../../../base/errors.ts";
import { JsonWeight } from "../../../base/json/weight.ts";
import { eitherOf } from "../../../base/text/list-text.ts";
import type { JsonObject } from "../../../call/chat.ts";
import type { Loading, StoredResponses } from "../../../responses/stored-responses.ts";
import { fieldError } from "../../../wire/v1/validate.ts";
import type { GatewayDependencies } from "../../dependencies.ts";
import type { Exchange } from "../../exchange.ts";
import { sendPieces } from "../../pieces-reply.ts";
import type { Work } from "../../pipeline.ts";
import { authenticate } from "../../request/authenticate.ts";

/**
 * GET and DELETE /v1/responses/{id}, GET …/input_items, POST …/cancel: the stored responses of an
 * account. No model is called, so there is no receipt, but each request counts against the limit of
 * requests per minute.
 */
export function manageResponse(dependencies: GatewayDependencies): Work {
  const { keys, billing, bodies, replyCounter } = dependencies;
  return async (exchange) => {
    exchange.endpoint = "responses";
    const key = authenticate(exchange, keys);
    await billing.enter(exchange, key);
    const [id = "", action = "", ...others] = exchange.rest.split("/");
    const wanted = others.length === 0 ? actions.get(action) : undefined;
    const instead = others.length === 0 && action === "" ? unserved.get(id) : undefined;
    if (instead !== undefined)
      throw new ApiError({
        code: "not_found",
        message: `/v1/responses/${id} is not supported. ${instead}`,
      });
    if (wanted === undefined || id === "" || unserved.has(id))
      throw new ApiError({
        code: "not_found",
        message: "Unknown path. Use /v1/responses/{id} or /v1/responses/{id}/input_items.",
      });
    const act = wanted[exchange.request.method];
    if (act === undefined)
      throw new ApiError({
        code: "method_not_allowed",
        message: `Method not allowed. Use ${eitherOf(Object.keys(wanted))}.`,
      });
    const { responses: archive } = dependencies;
    if (archive === undefined)
      throw new ApiError({
        code: "response_not_found",
        message: "The response does not exist. This gateway does not store responses.",
      });
    const { accountId } = key;
    const held = bodies.open({ keyId: key.id, accountId }, 0);
    exchange.heldBody = held;
    const loading: Loading = {
      accountId,
      weight: new JsonWeight(),
      hold: (sizeBytes) => held.grow(sizeBytes),
      tooHeavy: () => new ApiError({ code: "invalid_request", message: tooHeavy }),
    };
    const pieces = await act({ id, archive, exchange, loading });
    replyCounter.count(exchange, "ok");
    return sendPieces(exchange, pieces);
  };
}

const tooHeavy = "The response is too complex to be read.";

/** Paths of OpenAI's that are not served; they would look like ids. */
const unserved: ReadonlyMap<string, string> = new Map([
  ["input_tokens", "POST /v1/messages/count_tokens counts the tokens of a prompt."],
  ["compact", "Ask the model for a summary with POST /v1/responses and send that as input."],
]);

interface Asked {
  readonly id: string;
  readonly archive: StoredResponses;
  readonly exchange: Exchange;
  readonly loading: Loading;
}
/** Returns JSON. */
type Act = (asked: Asked) => Promise<readonly Uint8Array[]>;

const show: Act = async ({ id, archive, exchange, loading }) => {
  if (queryOf(exchange).get("stream") === "true")
    throw fieldError("stream", "must be false. A stored response is returned whole");
  return archive.show(id, loading, ({ reply }) => reply);
};

const remove: Act = async ({ id, archive, loading }) => {
  await archive.remove(loading.accountId, id);
  return [Buffer.from(JSON.stringify({ id, object: "response", deleted: true }))];
};

const maxItems = 100;
const defaultItems = 20;

const listInput: Act = async ({ id, archive, exchange, loading }) => {
  const query = queryOf(exchange);
  const limit = Number(query.get("limit") ?? defaultItems);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > maxItems)
    throw fieldError("limit", `must be an integer from 1 to ${maxItems}`);
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw fieldError("order", 'must be "asc" or "desc"');
  const after = query.get("after");
  return archive.show(id, loading, ({ input }) => {
    const items = order === "asc" ? input : input.toReversed();
    return pageOf(items, { after, limit });
  });
};

interface Page {
  readonly after: string | null;
  readonly limit: number;
}

function pageOf(items: readonly JsonObject[], { after, limit }: Page): JsonObject {
  const before = after === null ? -1 : items.findIndex((item) => item["id"] === after);
  if (after !== null && before === -1)
    throw fieldError("after", "must be the id of an item of this response");
  const data = items.slice(before + 1, before + 1 + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: before + 1 + limit < items.length,
  };
}

const cancel: Act = async ({ id, archive, loading }) => {
  await archive.check(loading.accountId, id);
  throw new ApiError({
    code: "invalid_request",
    message: "The response cannot be cancelled. Only background responses can, and it is not one.",
  });
};

/** By the path after the id, and by method. */
const actions: ReadonlyMap<string, Readonly<Record<string, Act>>> = new Map([
  ["", { GET: show, HEAD: show, DELETE: remove }],
  ["input_items", { GET: listInput, HEAD: listInput }],
  ["cancel", { POST: cancel }],
]);

const queryOf = ({ request }: Exchange) => new URL(request.url).searchParams;
