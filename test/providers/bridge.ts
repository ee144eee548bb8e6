/** A provider of the bridge in front of a fake vendor, for what is the bridge's own. */

import { afterAll, beforeAll, expect } from "bun:test";
import type { ChatCall, ChatPart, ChatResult, JsonObject } from "../../src/call/chat.ts";
import type { Provider, ProviderCall } from "../../src/providers/contract.ts";
import { ProviderRegistry, type ProviderSettings } from "../../src/providers/registry.ts";
import { jsonReply } from "../fake/http/reply.ts";
import { type FakeUpstream, startFakeUpstream } from "../fake/upstream.ts";
import { anthropicMessage } from "../fake/vendors/anthropic-messages.ts";
import { bedrockReply } from "../fake/vendors/bedrock-converse.ts";
import { operatorKey } from "./dialect.ts";
import { apiErrorOf } from "./failure-of.ts";

export interface Bridge {
  readonly upstream: FakeUpstream;
  readonly provider: Provider;
  chat(call: ChatCall, extra?: Extra): Promise<ChatResult>;
  /** All parts of a stream, to its end. */
  hear(call: ChatCall, extra?: Extra): Promise<readonly ChatPart[]>;
  /** The body of the last request. */
  readonly asked: JsonObject;
}

/** What the fake says to whatever it is asked, unless a test has it say something else. */
const usual = {
  anthropic: anthropicMessage({
    blocks: [{ type: "text", text: "So." }],
    stopReason: "end_turn",
    usage: { input_tokens: 3, output_tokens: 2 },
  }),
  bedrock: bedrockReply({ blocks: [{ text: ["So."] }], stopReason: "end_turn" }),
};

interface BridgeSettings extends Partial<ProviderSettings> {
  readonly kind: keyof typeof usual;
}

/** One that all tests of a file share. */
export function useBridge(settings: BridgeSettings): Bridge {
  let opened: Bridge | undefined;
  const bridge = () => {
    if (opened === undefined) throw new Error("the bridge is not open yet");
    return opened;
  };
  beforeAll(async () => {
    opened = await openBridge(settings);
    opened.upstream.replyWith(jsonReply({ body: JSON.parse(usual[settings.kind]) }));
  });
  afterAll(() => bridge().upstream.stop());
  return {
    get upstream() {
      return bridge().upstream;
    },
    get provider() {
      return bridge().provider;
    },
    get asked() {
      return bridge().asked;
    },
    chat: (call, extra) => bridge().chat(call, extra),
    hear: (call, extra) => bridge().hear(call, extra),
  };
}

type Extra = Partial<Omit<ProviderCall<ChatCall>, "call" | "target">> & { readonly model?: string };

export async function openBridge(
  settings: Pick<ProviderSettings, "kind"> & Partial<ProviderSettings>,
): Promise<Bridge> {
  const upstream = await startFakeUpstream();
  const { origin } = new URL(upstream.baseUrl);
  const provider = new ProviderRegistry().build({
    name: "acme",
    baseUrl: settings.kind === "bedrock" ? origin : `${origin}/v1`,
    apiKey: operatorKey,
    allowPrivate: true,
    options: settings.kind === "bedrock" ? { region: "us-east-1" } : {},
    ...settings,
  });
  const usualModel =
    settings.kind === "bedrock" ? "us.anthropic.claude-sonnet-4-5" : "claude-sonnet-4-5";
  const options = (call: ChatCall, { model = usualModel, ...extra }: Extra) => ({
    call,
    target: { model },
    signal: new AbortController().signal,
    onAccepted: () => {},
    ...extra,
  });
  return {
    upstream,
    provider,
    chat: (call, extra = {}) => {
      if (provider.chat === undefined) throw new Error("no chat");
      return provider.chat(options(call, extra));
    },
    hear: async (call, extra = {}) => {
      const stream = await provider.streamChat?.(options(call, extra));
      const parts: ChatPart[] = [];
      for (;;) {
        const more = await stream?.read();
        if (more === undefined) return parts;
        parts.push(...more);
      }
    },
    get asked() {
      return upstream.requests.at(-1)?.json as JsonObject;
    },
  };
}

/** The call is refused by this field, before the vendor is asked. */
export async function expectRefused(bridge: Bridge, call: ChatCall, param: string): Promise<void> {
  const before = bridge.upstream.requests.length;
  const error = await apiErrorOf(bridge.chat(call));
  expect([error.code, error.param]).toEqual(["invalid_request", param]);
  expect(bridge.upstream.requests.length).toBe(before);
}
