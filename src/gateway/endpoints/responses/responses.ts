import { nextTurn } from "../../../base/clock.ts";
import { JsonWeight } from "../../../base/json/weight.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import type { Loading, StoredResponses } from "../../../responses/stored-responses.ts";
import { createResponses } from "../../../wire/v1/responses/dialect.ts";
import type { ResponseOrder } from "../../../wire/v1/responses/order.ts";
import { withItemIds } from "../../../wire/v1/responses/output-items.ts";
import { fieldError } from "../../../wire/v1/validate.ts";
import type { ServedCall } from "../../served-call.ts";
import { serveChat } from "../chat/serve-chat.ts";
import { resolveReferences } from "./references.ts";

/** A request, with what it takes from earlier ones. */
interface Past {
  readonly body: JsonObject;
  readonly history: readonly JsonObject[];
}

const withoutStore = createResponses({
  history: [],
  canStore: false,
  keep: () => () => Promise.resolve(false),
});

/** POST /v1/responses */
export function serveResponses(served: ServedCall): Promise<Response> {
  const { body, dependencies } = served;
  const { responses: archive } = dependencies;
  if (archive === undefined) {
    checkNothingStored(body);
    return serveChat(served, withoutStore);
  }
  checkStoredSize(served, archive);
  const { previous_response_id: previous, input } = body;
  const needsPast =
    typeof previous === "string" || (Array.isArray(input) && input.some(isReference));
  if (!needsPast) return serve(served, { body, history: [] });
  return loadPast(served, archive).then((past) => serve(served, past));
}

function serve(served: ServedCall, { body, history }: Past): Promise<Response> {
  const dialect = createResponses({
    history,
    canStore: true,
    keep: (order) => (reply) => keep(served, order, reply),
  });
  const { read } = dialect;
  return serveChat(served, { ...dialect, read: (_, options) => read(body, options) });
}

/**
 * Stores a reply before its receipt is written and its last bytes are sent: a caller with a reply can
 * continue it. If that fails, the reply is sent with `store: false`, because it was paid for.
 */
async function keep(served: ServedCall, order: ResponseOrder, reply: JsonObject): Promise<boolean> {
  const { dependencies, key, exchange, asked } = served;
  const { responses: archive, log } = dependencies;
  const id = String(reply["id"]);
  try {
    const isStored = await archive?.save({
      id,
      accountId: key.accountId,
      keyId: key.id,
      model: asked,
      previousId: order.request.previous_response_id,
      input: withItemIds(order.input, id),
      reply,
    });
    const { charge } = exchange;
    if (charge !== undefined && isStored === true) charge.onUnsettled = () => forget(served, id);
    return isStored === true;
  } catch (error) {
    const detail = error instanceof Error ? error.name : "unknown";
    log.warn("response not stored", { request_id: exchange.requestId, detail });
    return false;
  }
}

/** The caller got an error instead of the reply. If this fails as well, the response expires. */
function forget({ dependencies, key, exchange }: ServedCall, id: string): void {
  const { responses: archive, log } = dependencies;
  archive?.remove(key.accountId, id).catch((error: unknown) => {
    const detail = error instanceof Error ? error.name : "unknown";
    log.warn("response of a failed call still stored", { request_id: exchange.requestId, detail });
  });
}

/** It is in memory like what the caller has sent, so it is counted and weighed like that. */
async function loadPast(served: ServedCall, archive: StoredResponses): Promise<Past> {
  const { body, key, exchange } = served;
  const { previous_response_id: previous, input } = body;
  const loading: Loading = {
    accountId: key.accountId,
    weight: new JsonWeight(),
    hold: (sizeBytes) => exchange.heldBody?.grow(sizeBytes),
    tooHeavy: () =>
      fieldError(
        "previous_response_id",
        "continues a conversation that is too complex. Shorten it, and send it in input",
      ),
  };
  const history = typeof previous === "string" ? await archive.history(previous, loading) : [];
  const resolved = Array.isArray(input)
    ? await resolveReferences(input, { archive, loading, history })
    : input;
  // What was parsed last may have taken long.
  await nextTurn();
  return { body: resolved === input ? body : { ...body, input: resolved }, history };
}

const isReference = (item: Json) =>
  isJsonObject(item) &&
  (item["type"] === "item_reference" ||
    (item["type"] === undefined && item["role"] === undefined && item["id"] !== undefined));

const notStored = "This gateway does not store responses";

function checkNothingStored({ store, previous_response_id: previous, input }: JsonObject): void {
  if (store === true) throw fieldError("store", `must be false. ${notStored}`);
  if (previous !== undefined)
    throw fieldError(
      "previous_response_id",
      `must be omitted. ${notStored}; send the whole conversation in input`,
    );
  const at = Array.isArray(input) ? input.findIndex(isReference) : -1;
  if (at !== -1)
    throw fieldError(
      `input[${at}].type`,
      `must not be "item_reference". ${notStored}; send the item itself, and store: false if your client has that setting`,
    );
}

function checkStoredSize(
  { body, exchange }: ServedCall,
  { maxStoredBytes }: StoredResponses,
): void {
  const sizeBytes = exchange.heldBody?.sizeBytes ?? 0;
  if (body["store"] === false || sizeBytes <= maxStoredBytes) return;
  throw fieldError(
    "store",
    `must be false for requests of more than ${Math.floor(maxStoredBytes / 1024 / 1024)} MiB`,
  );
}
