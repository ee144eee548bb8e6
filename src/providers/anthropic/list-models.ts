import { isJsonObject } from "../../call/chat.ts";
import type { Signal } from "../../call/signal.ts";
import type { UpstreamModel } from "../contract.ts";
import type { Dialer } from "../kit/dial.ts";
import { baseHeaders, send } from "../kit/http.ts";
import { readJson } from "../kit/reply.ts";

const maxPages = 20;
const maxModels = 2_000;

/** The vendor's models, page by page. */
export async function listAnthropicModels(options: {
  readonly provider: string;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly dialer: Dialer;
  readonly signal: Signal;
}): Promise<readonly UpstreamModel[]> {
  const { provider, baseUrl, apiKey = "", dialer, signal } = options;
  const pin = dialer.pin(baseUrl);
  const path = `${new URL(baseUrl).pathname.replace(/\/+$/, "")}/models?limit=1000`;
  const headers = {
    ...baseHeaders(pin),
    "x-api-key": apiKey,
    "anthropic-version": "2023-06-01",
  };
  const found: UpstreamModel[] = [];
  let after = "";
  for (let page = 0; page < maxPages; page++) {
    const response = await send({ provider, pin, path: path + after, headers, signal });
    const reply = await readJson(response, { provider, signal });
    const { data, has_more: hasMore, last_id: last } = isJsonObject(reply) ? reply : {};
    for (const one of Array.isArray(data) ? data.filter(isJsonObject) : []) {
      const { id, max_tokens: most } = one;
      if (typeof id !== "string") continue;
      found.push({
        id,
        endpoint: "chat",
        ...(typeof most === "number" && most > 0 ? { maxOutputTokens: most } : {}),
      });
    }
    if (hasMore !== true || typeof last !== "string" || found.length >= maxModels) break;
    after = `&after_id=${encodeURIComponent(last)}`;
  }
  return found.slice(0, maxModels);
}
