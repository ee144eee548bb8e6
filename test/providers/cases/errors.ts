import { describe, expect, test } from "bun:test";
import type { ApiError } from "../../../src/base/errors.ts";
import { plainCall } from "../calls.ts";
import {
  type ErrorClass,
  type ErrorOptions,
  type ExpectedError,
  errorClasses,
  type VendorReply,
  type Wait,
  waitForms,
} from "../dialect.ts";
import { apiErrorOf } from "../failure-of.ts";
import { framed, type Stage } from "../stage.ts";
import { expectDiscreet, quoted } from "./discreet.ts";

export function errorCases(stage: Stage): void {
  describe("what the vendor refuses or fails at", () => {
    classCases(stage);
    waitCases(stage);
    proxyCases(stage);
    emptyCases(stage);
  });
}

const classes: Readonly<Record<ErrorClass, ExpectedError>> = {
  badKey: { code: "upstream_unavailable", reason: "auth" },
  noPermission: { code: "upstream_unavailable", reason: "auth" },
  outOfMoney: { code: "upstream_unavailable", reason: "quota" },
  dailyQuota: { code: "upstream_unavailable", reason: "quota" },
  overloaded: { code: "upstream_overloaded", reason: "overloaded" },
  loading: { code: "upstream_overloaded", reason: "overloaded" },
  modelMissing: { code: "upstream_unavailable", reason: "missing" },
  badRequest: { code: "upstream_rejected", reason: "refused" },
  tooLong: { code: "context_length_exceeded", reason: "refused" },
  blocked: { code: "content_filtered", reason: "refused" },
  serverError: { code: "upstream_error", reason: "failed" },
  requestTimeout: { code: "upstream_timeout", reason: "timeout" },
  gatewayTimeout: { code: "upstream_timeout", reason: "timeout" },
};

type Replies = (options: ErrorOptions) => VendorReply | undefined;

/** The same of a whole answer and of a stream, and nothing told that is the operator's own. */
async function expectError(stage: Stage, replies: Replies, expected: ExpectedError) {
  const errors: ApiError[] = [];
  for (const streamed of [false, true]) {
    const reply = replies({ words: quoted(stage), streamed });
    if (reply === undefined) throw new Error("the dialect has no such reply");
    stage.answer(reply);
    let accepted = 0;
    const onAccepted = () => void (accepted += 1);
    const error = await apiErrorOf(
      streamed
        ? stage.hearStream(plainCall, { onAccepted })
        : stage.chat(plainCall, { onAccepted }),
    );
    errors.push(error);
    expect({ code: error.code, reason: error.upstream?.reason }).toEqual({
      code: expected.code,
      reason: expected.reason,
    });
    if ((reply.status ?? 200) >= 300) expect(accepted).toBe(0);
    expectDiscreet(stage, error);
  }
  expect(stage.calls).toHaveLength(2);
  return errors;
}

function classCases(stage: Stage): void {
  const { dialect } = stage;
  for (const kind of errorClasses) {
    const options = { words: "", streamed: false };
    if (dialect.error(kind, options) === undefined) continue;
    test(`${kind} is ${classes[kind].code}, whoever asked`, async () => {
      await expectError(stage, (asked) => dialect.error(kind, asked), classes[kind]);
    });
  }

  for (const { name, reply, expected } of dialect.oddErrors ?? [])
    test(`${name} is ${expected.code}, whoever asked`, async () => {
      const errors = await expectError(stage, reply, expected);
      for (const { upstream } of errors) expect(upstream?.delayMs).toBe(expected.delayMs);
    });

  test("a refusal that came packed is read all the same", async () => {
    const packed = (asked: ErrorOptions) => {
      const reply = dialect.error("tooLong", asked);
      if (reply === undefined) return undefined;
      const { head, parts } = framed(reply, { gzip: true });
      return { head, parts };
    };
    const { head, parts } = packed({ words: "", streamed: false }) ?? {};
    if (head === undefined || parts === undefined) throw new Error("no reply for tooLong");
    stage.answer(Buffer.concat([head, ...parts]));
    expect((await apiErrorOf(stage.chat(plainCall))).code).toBe("context_length_exceeded");
  });
}

function waitCases(stage: Stage): void {
  const { dialect } = stage;
  for (const form of waitForms) {
    const wait = (): Wait => ({ form, delayMs: 9_000, date: new Date(Date.now() + 9_000) });
    if (dialect.rateLimited(wait(), { words: "", streamed: false }) === undefined) continue;
    test(`too many requests, the wait told in the form ${form}, is a limit with that wait`, async () => {
      const limited = { code: "upstream_rate_limited", reason: "limited" } as const;
      const errors = await expectError(
        stage,
        (asked) => dialect.rateLimited(wait(), asked),
        limited,
      );
      for (const { upstream, retryAfterMs = 0 } of errors) {
        if (form === "none") {
          expect(upstream?.delayMs).toBeUndefined();
          expect(retryAfterMs).toBeGreaterThanOrEqual(1_000);
          continue;
        }
        // A date has whole seconds, and time passes until it is read.
        const leastMs = form === "date" ? 1 : 9_000;
        expect(upstream?.delayMs).toBeWithin(leastMs, 9_001);
        expect(retryAfterMs).toBeWithin(1_000, 9_001);
      }
    });
  }
}

const htmlPage = (status: number): VendorReply => ({
  status,
  headers: { "content-type": "text/html; charset=utf-8" },
  packets: ["<html><head><title>Oops</title></head><body><h1>nginx</h1></body></html>\r\n"],
});

/** What stands between us and the vendor speaks no language of the vendor's. */
function proxyCases(stage: Stage): void {
  const pages: readonly (readonly [number, ExpectedError])[] = [
    [200, { code: "upstream_error", reason: "failed" }],
    [403, { code: "upstream_unavailable", reason: "auth" }],
    [404, { code: "upstream_unavailable", reason: "missing" }],
    [429, { code: "upstream_rate_limited", reason: "limited" }],
    [500, { code: "upstream_error", reason: "failed" }],
    [502, { code: "upstream_error", reason: "failed" }],
    [503, { code: "upstream_overloaded", reason: "overloaded" }],
    [504, { code: "upstream_timeout", reason: "timeout" }],
  ];
  for (const [status, expected] of pages)
    test(`a proxy's page with status ${status} is ${expected.code}`, async () => {
      await expectError(stage, () => htmlPage(status), expected);
    });
}

function emptyCases(stage: Stage): void {
  for (const [status, expected] of [
    [200, { code: "upstream_error", reason: "failed" }],
    [401, { code: "upstream_unavailable", reason: "auth" }],
    [500, { code: "upstream_error", reason: "failed" }],
    [503, { code: "upstream_overloaded", reason: "overloaded" }],
  ] as const)
    test(`a reply of status ${status} that says nothing is ${expected.code}`, async () => {
      const headers = { "content-type": "application/json" };
      await expectError(stage, () => ({ status, headers, packets: [] }), expected);
    });

  test("an error whose body is no JSON, or another JSON, is one by its status", async () => {
    for (const body of ["null", "[]", "7", '"x"', "{}", '{"error":7}', '{"error":null}', "{"]) {
      stage.answer({
        status: 400,
        headers: { "content-type": "application/json" },
        packets: [body],
      });
      expect((await apiErrorOf(stage.chat(plainCall))).code).toBe("upstream_rejected");
      expect((await apiErrorOf(stage.hearStream(plainCall))).code).toBe("upstream_rejected");
    }
  });

  test("a whole reply that is JSON of another form is a failure", async () => {
    for (const body of ["null", "[]", "7", '"x"', "{}", '{"hello":"world"}']) {
      stage.answer({ headers: { "content-type": "application/json" }, packets: [body] });
      expect((await apiErrorOf(stage.chat(plainCall))).code).toBe("upstream_error");
    }
  });
}
