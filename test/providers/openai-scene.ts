/** A vendor that refuses tools in chat completions, as OpenAI does, behind a provider. */

import { afterAll, beforeAll, beforeEach } from "bun:test";
import { type ChatCall, isJsonObject, type JsonObject } from "../../src/call/chat.ts";
import { quirksOf } from "../../src/catalog/vendors.ts";
import { openAiResponses } from "../dialects/wires/openai-responses.ts";
import type { RecordedRequest } from "../fake/upstream.ts";
import { type Bridge, openBridge } from "./bridge.ts";
import { ask, plainAnswer, weatherTool } from "./calls.ts";
import type { VendorReply } from "./dialect.ts";
import { openAiDialect } from "./dialects/openai.ts";
import { framed } from "./stage.ts";

const chats = openAiDialect({ name: "openai", quirks: quirksOf("openai", "") });
export const { can } = openAiResponses;

export const refusal = (status: number, error: JsonObject): VendorReply => ({
  status,
  headers: { "content-type": "application/json" },
  packets: [JSON.stringify({ error: { type: "invalid_request_error", code: null, ...error } })],
});

const noTools = refusal(400, {
  message:
    "Function tools with reasoning_effort are not supported for gpt-5.6-terra in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
  param: "reasoning_effort",
});

type Replies = (request: RecordedRequest, body: JsonObject) => VendorReply | undefined;

export const withTools = (options: JsonObject = {}): ChatCall =>
  ask("Weather?", { tools: [weatherTool], ...options });

/** A model that nothing was learned of. */
let models = 0;
export const newModel = () => ({ model: `gpt-5.6-${models++}` });

export class OpenAiScene {
  #bridge: Bridge | undefined;

  constructor() {
    beforeAll(async () => {
      this.#bridge = await openBridge({ kind: "openai", quirks: quirksOf("openai", "") });
    });
    afterAll(() => this.bridge.upstream.stop());
    beforeEach(() => this.bridge.upstream.reset());
  }

  get bridge(): Bridge {
    if (this.#bridge === undefined) throw new Error("the fake has not begun");
    return this.#bridge;
  }

  /** Paths of the requests, in their order. */
  get paths(): readonly string[] {
    return this.bridge.upstream.requests.map(({ path }) => path.replace("/v1", ""));
  }

  /** What the vendor answers unless `replies` says otherwise. */
  serve(replies: Replies = () => undefined): void {
    this.bridge.upstream.replyWith((request) => {
      const body = isJsonObject(request.json) ? request.json : {};
      const said = replies(request, body);
      if (said !== undefined) return framed(said);
      const isChat = request.path === "/v1/chat/completions";
      const reasons = body["reasoning_effort"] !== "none";
      if (isChat && body["tools"] !== undefined && reasons) return framed(noTools);
      const form = body["stream"] === true ? "streamed" : "whole";
      return framed((isChat ? chats : openAiResponses)[form](plainAnswer(can)));
    });
  }

  /** Every response is this one. */
  respond(reply: VendorReply): void {
    this.serve(({ path }) => (path.endsWith("responses") ? reply : undefined));
  }
}
