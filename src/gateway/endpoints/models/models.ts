import { ApiError } from "../../../base/errors.ts";
import type { Catalog } from "../../../catalog/catalog.ts";
import { seesImages } from "../../../catalog/image-tokens.ts";
import { lifecycleState } from "../../../catalog/lifecycle.ts";
import { type Model, priceAt } from "../../../catalog/model.ts";
import { toMessagesModel, toMessagesModelList } from "../../../wire/v1/messages/models.ts";
import {
  type ListedModel,
  toModel,
  toModelList,
  toVoiceList,
} from "../../../wire/v1/models/reply.ts";
import type { GatewayDependencies } from "../../dependencies.ts";
import type { Exchange } from "../../exchange.ts";
import type { Work } from "../../pipeline.ts";
import { authenticate } from "../../request/authenticate.ts";
import { findCallable, noteUnknown, toShown } from "../../request/find-model.ts";

/** GET /v1/models: what this key may call. No upstream is asked. */
export function listModels({ keys, catalog, purses, replyCounter }: GatewayDependencies): Work {
  return (exchange) => {
    exchange.endpoint = "models";
    const { startedMs } = exchange;
    const key = authenticate(exchange, keys);
    exchange.purse = purses.find(key.accountId);
    const listed: ListedModel[] = [];
    for (const id of catalog.servedNames) {
      const model = findCallable({ catalog, key, id, nowMs: startedMs });
      if (model !== undefined && lifecycleState(model.lifecycle, startedMs) !== "retired")
        listed.push({ ...toListed(model, catalog, startedMs), id });
    }
    const list = asksInMessages(exchange)
      ? toMessagesModelList(listed.filter(isChat), queryOf(exchange))
      : toModelList(listed);
    replyCounter.count(exchange, "ok");
    return exchange.json(JSON.stringify(list));
  };
}

/** Clients of the Messages format name its version, and list models to chat with. */
function asksInMessages(exchange: Exchange): boolean {
  if (!exchange.request.headers.has("anthropic-version")) return false;
  exchange.dialect = "messages";
  return true;
}

const isChat = ({ endpoint }: ListedModel) => endpoint === "chat";
const queryOf = ({ request }: Exchange) => new URL(request.url).searchParams;

/** GET /v1/models/{id} */
export function showModel({ keys, catalog, purses, replyCounter }: GatewayDependencies): Work {
  return (exchange) => {
    exchange.endpoint = "models";
    const { startedMs, rest: id } = exchange;
    const key = authenticate(exchange, keys);
    exchange.purse = purses.find(key.accountId);
    const model = findCallable({ catalog, key, id, nowMs: startedMs });
    if (model === undefined || lifecycleState(model.lifecycle, startedMs) === "retired") {
      noteUnknown({ exchange, catalog, id, nowMs: startedMs });
      throw new ApiError({
        code: "model_not_found",
        param: "model",
        message: `Unknown model "${toShown(id)}". GET /v1/models lists the models this key can use.`,
      });
    }
    exchange.model = model;
    replyCounter.count(exchange, "ok");
    const listed = { ...toListed(model, catalog, startedMs), id };
    const told = asksInMessages(exchange) ? toMessagesModel(listed) : toModel(listed);
    return exchange.json(JSON.stringify(told));
  };
}

/** GET /v1/audio/voices. Without a key: clients ask for it without one, and the names are public. */
export function listVoices(): Work {
  const body = JSON.stringify(toVoiceList());
  return (exchange) => exchange.json(body);
}

function toListed(model: Model, catalog: Catalog, nowMs: number): ListedModel {
  const { id, createdAtMs, ownedBy, endpoint, input, contextLength, maxOutputTokens } = model;
  const deprecation = catalog.deprecationOf(model, nowMs);
  return {
    id,
    createdAtMs,
    ownedBy,
    ...(deprecation === undefined ? {} : { deprecation }),
    endpoint,
    input,
    seesImages: endpoint === "chat" && seesImages(model),
    contextLength,
    maxOutputTokens,
    price: priceAt(model, nowMs)?.price,
  };
}
