/** The kinds of upstreams behind one gateway, and the pairs that they make with the dialects. */

import type { JsonObject } from "../../src/call/chat.ts";
import type { Dialect } from "../../src/call/dialect.ts";
import { quirksOf } from "../../src/catalog/vendors.ts";
import { serviceAccount } from "../fake/vendors/vertex-account.ts";
import { operatorKey, type SentRequest } from "../providers/dialect.ts";
import { anthropicDialect } from "../providers/dialects/anthropic.ts";
import { listOf, objectOf } from "../providers/dialects/asked.ts";
import { bedrockKeyDialect } from "../providers/dialects/bedrock.ts";
import { geminiDialect } from "../providers/dialects/gemini.ts";
import { openAiDialect } from "../providers/dialects/openai.ts";
import { responsesOnlyDialect } from "../providers/dialects/openai-responses.ts";
import { vertexDialect } from "../providers/dialects/vertex.ts";
import type { Driver } from "./driver.ts";
import { chatDriver } from "./drivers/chat.ts";
import { completionsDriver } from "./drivers/completions.ts";
import { messagesDriver } from "./drivers/messages.ts";
import { responsesDriver } from "./drivers/responses.ts";
import { completionsWire } from "./wires/openai-completions.ts";
import { openAiResponses } from "./wires/openai-responses.ts";
import type { Wire } from "./wires/wire.ts";

export const drivers = [chatDriver, responsesDriver, messagesDriver, completionsDriver] as const;

export interface Vendor {
  /** Also the name of its model, for callers. Its twin is another of the same. */
  readonly name: string;
  /** Its entry in svc.yaml; ORIGIN stands for where it listens. */
  readonly entry: string;
  /** How it speaks to a caller of this dialect; absent: it does not. */
  readonly wires: Readonly<Partial<Record<Dialect, Wire>>>;
}

const key = `api_key: "${operatorKey}", allow_private: true`;

function translated(wire: Wire): Vendor["wires"] {
  return { chat: wire, responses: wire, messages: wire };
}

const compatible = openAiDialect({ name: "compatible", quirks: { capName: "max_tokens" } });
const openAi = openAiDialect({ name: "openai", quirks: quirksOf("openai", "") });

export const vendors: readonly Vendor[] = [
  {
    name: "compatible",
    entry: `{ kind: openai, base_url: "ORIGIN/v1", ${key} }`,
    wires: { ...translated(compatible), completions: completionsWire(compatible.model) },
  },
  {
    name: "openai",
    entry: `{ kind: openai, vendor: openai, base_url: "ORIGIN/v1", ${key} }`,
    wires: {
      ...translated(openAi),
      responses: openAiResponses,
      completions: completionsWire(openAi.model),
    },
  },
  {
    name: "openai-responses-only",
    entry: `{ kind: openai, vendor: openai, base_url: "ORIGIN/v1", ${key} }`,
    wires: {
      ...translated(responsesOnlyDialect),
      responses: openAiResponses,
      completions: completionsWire(openAiResponses.model),
    },
  },
  {
    name: "gemini",
    entry: `{ kind: gemini, base_url: "ORIGIN/v1beta", ${key} }`,
    wires: translated(geminiDialect),
  },
  {
    name: "vertex",
    entry: `{ kind: vertex, base_url: "ORIGIN/v1", allow_private: true, project: operators-project, location: us-central1, credentials: ${JSON.stringify(serviceAccount("ORIGIN/token"))} }`,
    wires: translated(vertexDialect),
  },
  {
    name: "anthropic",
    entry: `{ kind: anthropic, base_url: "ORIGIN/v1", ${key} }`,
    wires: {
      ...translated(anthropicDialect),
      messages: {
        ...anthropicDialect,
        asked: (request) => anthropicDialect.asked(inBlocks(request)),
      },
    },
  },
  {
    name: "bedrock",
    entry: `{ kind: bedrock, base_url: "ORIGIN", region: us-east-1, ${key} }`,
    wires: translated(bedrockKeyDialect),
  },
];

export interface Pair {
  readonly driver: Driver;
  readonly vendor: Vendor;
  readonly wire: Wire;
  /** The vendor speaks the caller's own dialect. */
  readonly isNative: boolean;
}

export function pairsOf(driver: Driver): readonly Pair[] {
  return vendors.flatMap((vendor) => {
    const wire = vendor.wires[driver.name];
    const isNative = driver.name !== "chat" && wire !== vendor.wires.chat;
    return wire === undefined ? [] : [{ driver, vendor, wire, isNative }];
  });
}

/** Each dialect, translated and natively, once: for what does not depend on the vendor. */
export const scenes: readonly Pair[] = drivers.flatMap(pairsOf).filter(isScene);

/** Each dialect once: for what is over before a vendor is chosen, or begins after its answer. */
export const plainScenes = scenes.filter(({ vendor }) => vendor.name === "compatible");

export function isScene({ driver, vendor, isNative }: Pair): boolean {
  switch (vendor.name) {
    case "compatible":
      return true;
    case "openai-responses-only":
      // Chat speaks for the dialects that are translated to Responses.
      return driver.name === "chat";
    default:
      return isNative && driver.name !== "completions";
  }
}

export const sceneName = ({ driver, vendor, isNative }: Pair) =>
  `${driver.name} ${isNative ? "natively " : ""}on ${vendor.name}`;

/** For calls that others must not have taught the gateway anything about. */
export const twinOf = ({ name }: Pick<Vendor, "name">) => `${name}-twin`;

/** Reaches the end of its life in the tests of that. */
export const oldOf = ({ name }: Pick<Vendor, "name">) => `${name}-old`;

/** The model that the vendor gets: the vendor's own name for it. */
export const upstreamModel = ({ wires }: Vendor) => wires.chat?.model ?? "";

/** Prices in nano-USD per token, each another. */
export const prices = { input: 300n, cached: 30n, written: 400n, output: 2_500n } as const;
const price = '{ input: "0.30", cached_input: "0.03", cache_write: "0.40", output: "2.50" }';

function entriesOf(vendor: Vendor): readonly string[] {
  const routes = `[{ provider: ${vendor.name}, model: "${upstreamModel(vendor)}" }]`;
  const terms = `endpoint: chat, max_output_tokens: 8192, price: ${price}, routes: ${routes}`;
  const ids = [vendor.name, twinOf(vendor), oldOf(vendor)];
  return ids.map((id) => `  ${id}: { ${terms} }`);
}

export const manifest = [
  "providers:",
  ...vendors.map(({ name, entry }) => `  ${name}: ${entry}`),
  "models:",
  ...vendors.flatMap(entriesOf),
  "",
].join("\n");

/** What the vendor takes as a list of texts, whichever way the caller wrote it. */
function inBlocks({ method, path, json }: SentRequest): SentRequest {
  const body = objectOf(json);
  const messages = listOf(body["messages"]).map((message) => ({
    ...message,
    content: toBlocks(message["content"]),
  }));
  return { method, path, json: { ...body, messages } };
}

function toBlocks(content: unknown): readonly JsonObject[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return listOf(content).map((block) => {
    const { type, content: result } = block;
    if (type !== "tool_result" || !Array.isArray(result)) return block;
    const texts = listOf(result).flatMap(({ text }) => text ?? []);
    return { ...block, content: texts.join("\n") };
  });
}
