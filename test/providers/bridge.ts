/** A provider of the bridge in front of a fake vendor, for what is the bridge's own. */

import type { ChatCall, ChatPart, ChatResult, JsonObject } from "../../src/call/chat.ts";
import type { Provider, ProviderCall } from "../../src/providers/contract.ts";
import { ProviderRegistry, type ProviderSettings } from "../../src/providers/registry.ts";
import { type FakeUpstream, startFakeUpstream } from "../fake/upstream.ts";
import { operatorKey } from "./dialect.ts";

export interface Bridge {
  readonly upstream: FakeUpstream;
  readonly provider: Provider;
  chat(call: ChatCall, extra?: Extra): Promise<ChatResult>;
  /** All parts of a stream, to its end. */
  hear(call: ChatCall, extra?: Extra): Promise<readonly ChatPart[]>;
  /** The body of the last request. */
  readonly asked: JsonObject;
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
  const usual =
    settings.kind === "bedrock" ? "us.anthropic.claude-sonnet-4-5" : "claude-sonnet-4-5";
  const options = (call: ChatCall, { model = usual, ...extra }: Extra) => ({
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
