import { expect } from "bun:test";
import {
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  type OpenAI,
  PermissionDeniedError,
  RateLimitError,
} from "openai";
import { failures, rateLimits } from "../../fake/recordings.ts";
import { thrownBy } from "../../replies/refusal.ts";

import type { Stage } from "../stage.ts";
import type { Check } from "../suite.ts";

const model = "svc-3-flash";
const messages = [{ role: "user" as const, content: "Say hello" }];

/** The classes that callers catch. */
export function errorChecks(check: Check, stage: Stage): void {
  const client = (apiKey?: string) => stage.gateway.client(apiKey === undefined ? {} : { apiKey });
  const ask = (body: object = {}, apiKey?: string) =>
    client(apiKey).chat.completions.create({
      model,
      messages,
      ...body,
    } as OpenAI.ChatCompletionCreateParamsNonStreaming);

  check("throws AuthenticationError for an invalid key, on every endpoint", async () => {
    const wrong = client("sk-svc-wrong");
    for (const call of [
      () => wrong.chat.completions.create({ model, messages }),
      () => wrong.chat.completions.create({ model, messages, stream: true }),
      () => wrong.embeddings.create({ model: "svc-embedding-2", input: "x" }),
      () => wrong.audio.speech.create({ model: "svc-2.5-flash-tts", voice: "Kore", input: "x" }),
      () => wrong.models.list(),
      () => wrong.models.retrieve(model),
    ]) {
      const thrown = await thrownBy(call());
      expect(thrown).toBeInstanceOf(AuthenticationError);
      expect(thrown).toMatchObject({ status: 401, code: "invalid_api_key", param: null });
    }
  });

  check("throws PermissionDeniedError for a model that the key may not use", async () => {
    const { key } = await stage.gateway.server.operations.keys.create({
      account: stage.gateway.account,
      models: ["svc-2-flash"],
    });
    for (const thrown of [
      await thrownBy(ask({}, key)),
      await thrownBy(ask({ model: "no-such-model" })),
    ]) {
      expect(thrown).toBeInstanceOf(PermissionDeniedError);
      expect(thrown).toMatchObject({ status: 403, code: "model_not_allowed", param: "model" });
    }
  });

  check("throws BadRequestError that names the invalid field", async () => {
    const cases = [
      [() => ask({ temperature: 3 }), "temperature"],
      [() => ask({ max_tokens: 0 }), "max_tokens"],
      [() => client().embeddings.create({ model: "svc-embedding-2", input: [] }), "input"],
      [
        () => client().embeddings.create({ model: "svc-embedding-2", input: "x", dimensions: 5 }),
        "dimensions",
      ],
      [
        () =>
          client().audio.speech.create({ model: "svc-2.5-flash-tts", voice: "alloy", input: "x" }),
        "voice",
      ],
      [() => ask({ model: "svc-embedding-2" }), "model"],
    ] as const;
    for (const [call, param] of cases) {
      const thrown = await thrownBy(call());
      expect(thrown).toBeInstanceOf(BadRequestError);
      expect(thrown).toMatchObject({ status: 400, param, type: "invalid_request_error" });
    }
    expect(stage.gateway.upstream.requests).toEqual([]);
  });

  otherErrorChecks(check, stage, ask);
}

function otherErrorChecks(
  check: Check,
  stage: Stage,
  ask: (body?: object) => PromiseLike<unknown>,
): void {
  check("throws NotFoundError for a model that is not listed and for an unknown path", async () => {
    for (const call of [
      () => stage.gateway.client().models.retrieve("no-such-model"),
      () => stage.gateway.client().batches.retrieve("x"),
    ]) {
      const thrown = await thrownBy(call());
      expect(thrown).toBeInstanceOf(NotFoundError);
      expect(thrown.status).toBe(404);
    }
  });

  check("throws RateLimitError when the model is rate limited, streamed or not", async () => {
    stage.gateway.upstream.replyWith(rateLimits.seconds(7));
    for (const stream of [false, true]) {
      const thrown = await thrownBy(ask({ stream }));
      expect(thrown).toBeInstanceOf(RateLimitError);
      expect(thrown).toMatchObject({ status: 429, type: "rate_limit_error" });
      expect(thrown.headers?.get("retry-after")).toBe("7");
    }
  });

  check("throws InternalServerError when the model fails, streamed or not", async () => {
    stage.gateway.upstream.replyWith(failures.internal());
    for (const stream of [false, true]) {
      const thrown = await thrownBy(ask({ stream }));
      expect(thrown).toBeInstanceOf(InternalServerError);
      expect(thrown).toMatchObject({ status: 502, code: "upstream_error" });
    }
  });
}
