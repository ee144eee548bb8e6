import type { Provider, ProviderCall } from "../contract.ts";
import type { Dialer } from "../kit/dial.ts";
import { upstreamError } from "../kit/failure.ts";
import { LengthMemory } from "../kit/length-memory.ts";
import { SetupFault } from "../kit/setup-fault.ts";
import { Call, createBridgeFetch } from "./bridge-fetch.ts";
import { toCallOptions } from "./chat/call-options.ts";
import { JsonToolText, writesByTool } from "./chat/json-tool.ts";
import { fromGenerated } from "./chat/reply.ts";
import { AiSdkChatStream } from "./chat/stream.ts";
import { embedTexts } from "./embed.ts";
import { toBridgeError } from "./failure.ts";
import { type EmbeddingModel, ownerOf } from "./model.ts";
import { type PackageSettings, ProviderPackage } from "./package.ts";
import { AwsSigner } from "./sign-aws.ts";

export type AiSdkOptions = Omit<PackageSettings, "kind"> & {
  readonly kind: string;
  readonly dialer: Dialer;
  readonly takesUrls: boolean;
};

/** A vendor that is reached through a provider package of the AI SDK. */
export function createAiSdkProvider(options: AiSdkOptions): Provider {
  const { name, baseUrl, apiKey, dialer, takesUrls } = options;
  const kind = toKind(options.kind);
  const settings = { name, kind, baseUrl, apiKey, options: options.options };
  const signer = toSigner(settings);
  const bridge = new ProviderPackage(
    settings,
    createBridgeFetch({ provider: name, dialer, signer, hasEvents: kind === "anthropic" }),
  );
  const checkSettings = () => {
    if (kind === "bedrock") checkRegion(settings);
    if (apiKey === undefined && signer === undefined) throw withoutCredentials(settings);
  };
  const languageModel = (id: string) => {
    checkSettings();
    return bridge.languageModel(id);
  };
  const toError = (thrown: unknown, { signal }: ProviderCall<unknown>) =>
    toBridgeError({ provider: name, signal, thrown });

  const chats: Provider = {
    name,
    async chat(given) {
      const call = new Call(given, "whole");
      const modelId = given.target.model;
      const { signal } = call;
      try {
        const model = await languageModel(modelId);
        const wanted = await toCallOptions({ call: given.call, model, modelId, signal, takesUrls });
        const result = await model.doGenerate(wanted);
        call.accept();
        return fromGenerated(result, { provider: name, owner: ownerOf(model) });
      } catch (thrown) {
        throw toError(thrown, given);
      }
    },
    async streamChat(given) {
      const call = new Call(given, "stream");
      const modelId = given.target.model;
      const { signal } = call;
      try {
        const model = await languageModel(modelId);
        const wanted = await toCallOptions({ call: given.call, model, modelId, signal, takesUrls });
        const { stream, request } = await model.doStream(wanted);
        call.accept();
        const jsonText = writesByTool(wanted, request) ? new JsonToolText() : undefined;
        const heard = { provider: name, stream, signal: given.signal, call, model, jsonText };
        return new AiSdkChatStream(heard);
      } catch (thrown) {
        call.end();
        throw toError(thrown, given);
      }
    },
  };
  // This vendor has no embeddings.
  if (kind === "anthropic") return chats;
  const embeddingModel = (id: string) => {
    checkSettings();
    return bridge.embeddingModel(id);
  };
  return { ...chats, embed: createEmbed({ name, embeddingModel }) };
}

function createEmbed(options: {
  readonly name: string;
  readonly embeddingModel: (id: string) => EmbeddingModel | Promise<EmbeddingModel>;
}): NonNullable<Provider["embed"]> {
  const { name: provider, embeddingModel } = options;
  const lengths = new LengthMemory();
  return async (given) => {
    const { signal } = new Call(given, "whole");
    const modelId = given.target.model;
    try {
      const model = await embeddingModel(modelId);
      return await lengths.ask({ call: given.call, model: modelId }, (dimensions) =>
        embedTexts({ call: { ...given.call, dimensions }, model, modelId, provider, signal }),
      );
    } catch (thrown) {
      throw toBridgeError({ provider, signal: given.signal, thrown });
    }
  };
}

function toKind(kind: string): PackageSettings["kind"] {
  if (kind === "anthropic" || kind === "bedrock") return kind;
  throw new Error(`no provider package for kind ${kind}`);
}

/** Without a key of the service itself, with credentials of the cloud. */
function toSigner({ kind, apiKey, options }: PackageSettings): AwsSigner | undefined {
  const { region = "", access_key_id: accessKeyId, secret_access_key: secretAccessKey } = options;
  if (kind !== "bedrock" || apiKey !== undefined) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  const credentials = { accessKeyId, secretAccessKey, sessionToken: options["session_token"] };
  return new AwsSigner({ credentials, region, service: "bedrock" });
}

/** It becomes part of the host name, and could lead a key to any other host. */
function checkRegion({ name, options }: PackageSettings): void {
  if (/^[a-z0-9-]{1,63}$/.test(options["region"] ?? "")) return;
  const what = `${name}: region is not an AWS region`;
  const advice = "Set region to one such as us-east-1.";
  throw upstreamError("upstream_unavailable", {
    detail: what,
    reason: "auth",
    cause: new SetupFault("settings", { what: `${what}.`, advice }),
  });
}

/** Packages would look for them in places that the operator has not named. */
function withoutCredentials({ name, kind }: PackageSettings) {
  const wanted =
    kind === "bedrock" ? "neither api_key nor access_key_id and secret_access_key" : "no api_key";
  const what = `${name} has ${wanted}`;
  const advice =
    kind === "bedrock" ? "Set api_key, or access_key_id and secret_access_key." : "Set api_key.";
  return upstreamError("upstream_unavailable", {
    detail: what,
    reason: "auth",
    cause: new SetupFault("settings", { what: `${what}.`, advice }),
  });
}
