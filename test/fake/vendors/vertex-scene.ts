/** A provider in front of a vendor and of the server that it signs in at. */

import { afterAll, beforeAll, beforeEach } from "bun:test";
import { ApiError } from "../../../src/base/errors.ts";
import type { EmbedCall, EmbedInput } from "../../../src/call/embed.ts";
import type { Provider, ProviderCall } from "../../../src/providers/contract.ts";
import { Dialer } from "../../../src/providers/kit/dial.ts";
import {
  createVertexProvider,
  type VertexOptions,
} from "../../../src/providers/vertex/provider.ts";
import type { Reply } from "../script.ts";
import {
  type FakeUpstream,
  type RecordedRequest,
  type ReplySource,
  startFakeUpstream,
} from "../upstream.ts";
import { serviceAccount, tokenReply } from "./vertex-account.ts";
import { imagePrediction } from "./vertex-replies.ts";

export const startMs = Date.parse("2026-10-14T09:00:00Z");
export const oneImage: EmbedInput = { kind: "images", dataUris: ["data:image/png;base64,iVBO"] };

export class VertexScene {
  readonly clock = { now: startMs, nowMs: () => this.clock.now };
  /** What each of the two answers; both may be changed at any time. */
  token: (request: RecordedRequest, count: number) => Reply = usualToken;
  api: ReplySource = imagePrediction([1, 0]);
  #upstream: FakeUpstream | undefined;
  #waiting: { readonly path: RegExp; readonly tell: (request: RecordedRequest) => void }[] = [];

  constructor() {
    beforeAll(async () => {
      this.#upstream = await startFakeUpstream();
    });
    afterAll(() => this.upstream.stop());
    beforeEach(() => {
      this.clock.now = startMs;
      this.token = usualToken;
      this.api = imagePrediction([1, 0]);
      this.#waiting = [];
      this.upstream.reset();
      this.upstream.replyWith((request) => this.#reply(request));
    });
  }

  get upstream(): FakeUpstream {
    if (this.#upstream === undefined) throw new Error("the fake has not begun");
    return this.#upstream;
  }

  get origin(): string {
    return new URL(this.upstream.baseUrl).origin;
  }

  get tokenUrl(): string {
    return `${this.origin}/token`;
  }

  get signIns(): readonly RecordedRequest[] {
    return this.upstream.requests.filter(({ path }) => path === "/token");
  }

  get calls(): readonly RecordedRequest[] {
    return this.upstream.requests.filter(({ path }) => path !== "/token");
  }

  /** The next request to such a path: ask before you send. */
  next(path: RegExp): Promise<RecordedRequest> {
    return new Promise((tell) => this.#waiting.push({ path, tell }));
  }

  provider(options: Readonly<Record<string, string>> = {}, changes: Changes = {}): Provider {
    const allowPrivate = changes.allowPrivate ?? true;
    const isBare = Object.keys(options).some((name) => name.startsWith("credentials"));
    const credentials = isBare ? {} : { credentials: serviceAccount(this.tokenUrl) };
    return createVertexProvider({
      name: "cloud",
      baseUrl: `${this.origin}/v1`,
      apiKey: undefined,
      allowPrivate,
      options: {
        project: "operators-project",
        location: "us-central1",
        ...credentials,
        ...options,
      },
      dialer: new Dialer({ provider: "cloud", allowPrivate }),
      clock: this.clock,
      ...changes,
    });
  }

  #reply(request: RecordedRequest): Reply {
    const at = this.#waiting.findIndex(({ path }) => path.test(request.path));
    const [waiting] = at < 0 ? [] : this.#waiting.splice(at, 1);
    waiting?.tell(request);
    if (request.path === "/token") return this.token(request, this.signIns.length);
    return resolved(this.api, request);
  }
}

type Changes = Partial<Pick<VertexOptions, "apiKey" | "allowPrivate" | "baseUrl">>;

/** The n-th sign-in gets the n-th token. */
function usualToken(_request: RecordedRequest, count: number): Reply {
  return tokenReply(`token-${count}`);
}

function resolved(source: ReplySource, request: RecordedRequest): Reply {
  return typeof source === "function" ? source(request) : source;
}

/** One call of embeddings, as a router makes it. */
export function embed(
  provider: Provider,
  input: EmbedInput = oneImage,
  extra: Partial<Omit<ProviderCall<EmbedCall>, "call">> & { readonly dimensions?: number } = {},
) {
  if (provider.embed === undefined) throw new Error("the provider embeds nothing");
  const { dimensions, ...rest } = extra;
  return provider.embed({
    call: { input, dimensions, encoding: "float" },
    target: { model: "multimodalembedding@001" },
    signal: new AbortController().signal,
    onAccepted: () => {},
    ...rest,
  });
}

/** What a call fails with, which must be an ApiError. */
export async function errorOf(work: Promise<unknown>): Promise<ApiError> {
  const thrown = await work.then(
    () => new Error("nothing was thrown"),
    (error: unknown) => error,
  );
  if (thrown instanceof ApiError) return thrown;
  throw new Error(`no ApiError: ${String(thrown)}`, { cause: thrown });
}
