/** Whose fault an upstream's error is, for every vendor that we name, through its provider. */

import { describe, expect, test } from "bun:test";
import type { ApiError } from "../../src/base/errors.ts";
import { quirksOf, vendors } from "../../src/catalog/vendors.ts";
import { plainCall } from "./calls.ts";
import { expectDiscreet } from "./cases/discreet.ts";
import type { Dialect, VendorReply } from "./dialect.ts";
import { anthropicDialect } from "./dialects/anthropic.ts";
import { bedrockKeyDialect } from "./dialects/bedrock.ts";
import { geminiDialect } from "./dialects/gemini.ts";
import { openAiDialect } from "./dialects/openai.ts";
import { vertexDialect } from "./dialects/vertex.ts";
import {
  type ErrorBody,
  expectedOf,
  textOf,
  type VendorErrors,
  vendorErrors,
} from "./error-bodies.ts";
import { apiErrorOf } from "./failure-of.ts";
import { Stage } from "./stage.ts";

const openAi = (vendor: string) => openAiDialect({ name: vendor, quirks: quirksOf(vendor, "") });

function dialectOf({ vendor, kind }: VendorErrors): Dialect {
  switch (kind) {
    case "openai":
      return openAi(vendor);
    case "gemini":
      return geminiDialect;
    case "vertex":
      return vertexDialect;
    case "anthropic":
      return anthropicDialect;
    case "bedrock":
      return bedrockKeyDialect;
    default:
      return kind satisfies never;
  }
}

const heard = ({ code, upstream }: ApiError) => ({
  code,
  reason: upstream?.reason,
  byInput: upstream?.isReply ?? false,
});

function replyOf(row: ErrorBody, streamed: boolean): VendorReply {
  const text = textOf(row);
  const isEvent = row.status === 200 && streamed;
  const type = isEvent
    ? "text/event-stream"
    : typeof row.body === "string"
      ? "text/html"
      : "application/json";
  return {
    status: row.status,
    headers: { "content-type": type, ...row.headers },
    packets: text === "" ? [] : [isEvent ? `data: ${text}\n\n` : text],
  };
}

test("every vendor that we name has error bodies", () => {
  const known = new Set(vendorErrors.map(({ vendor }) => vendor));
  expect(vendors.map(({ id }) => id).filter((id) => !known.has(id))).toEqual([]);
  expect(vendorErrors.flatMap(({ bodies }) => bodies).length).toBeGreaterThan(200);
});

for (const errors of vendorErrors)
  describe(errors.vendor, () => {
    const stage = new Stage(dialectOf(errors));
    for (const row of errors.bodies) {
      const { code, reason } = expectedOf(row);
      test(`${row.what} (${row.status}) is ${code}, ${reason}`, async () => {
        for (const streamed of [false, true]) {
          stage.answer(replyOf(row, streamed));
          const error = await apiErrorOf(
            streamed ? stage.hearStream(plainCall) : stage.chat(plainCall),
          );
          expect(heard(error)).toEqual(expectedOf(row));
          expectDiscreet(stage, error);
        }
      });
    }
  });
