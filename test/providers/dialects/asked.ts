/** How dialects are built, and read the JSON of a request into neutral words. */

import { isJsonObject, type JsonObject } from "../../../src/call/chat.ts";
import { ProviderRegistry, type ProviderSettings } from "../../../src/providers/registry.ts";
import { type AskedTool, type Dialect, operatorKey, type SentRequest } from "../dialect.ts";

type Network = Pick<Parameters<Dialect["create"]>[0], "network">;

export const built = ({
  network,
  ...settings
}: Network & Pick<ProviderSettings, "name" | "kind" | "baseUrl"> & Partial<ProviderSettings>) =>
  new ProviderRegistry(network).build({
    apiKey: operatorKey,
    allowPrivate: true,
    options: {},
    ...settings,
  });

export const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
export const listOf = (value: unknown) => (Array.isArray(value) ? value.filter(isJsonObject) : []);
export const numberOf = (value: unknown) => (typeof value === "number" ? value : undefined);
export const textsOf = (value: unknown) => (Array.isArray(value) ? value.map(String) : undefined);

export const toTool = (given: JsonObject, parameters: unknown): AskedTool => ({
  name: String(given["name"]),
  description: typeof given["description"] === "string" ? given["description"] : undefined,
  parameters: isJsonObject(parameters) ? parameters : undefined,
});

/** The body of a POST to this path; throws on any other request. */
export function bodyAt({ method, path, json }: SentRequest, expected: string): JsonObject {
  if (method !== "POST" || path !== expected) throw new Error(`${method} ${path} is no chat`);
  return objectOf(json);
}
