/** The real gateway in front of all kinds of vendors, called in one dialect. */

import { afterAll, beforeAll, beforeEach, expect } from "bun:test";
import type { Reply } from "../fake/script.ts";
import type { RecordedRequest } from "../fake/upstream.ts";
import { type Answer, type Asked, type VendorReply } from "../providers/dialect.ts";
import { framed, isVendorReply } from "../providers/stage.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../setup/harness.ts";
import { ledgerProblems, openPayer, type Payer, type PayerOptions } from "../setup/money-home.ts";
import { openShared } from "../setup/use-gateway.ts";
import type { Driver, Heard, HeardError, HeardStream, Question } from "./driver.ts";
import { manifest, type Pair } from "./vendors.ts";

export type Said = VendorReply | Reply;
export const forms = ["whole", "streamed"] as const;
export type Form = (typeof forms)[number];

/** One gateway for all pairs, and for all files whose gateway has no options. */
export class Stage {
  #gateway: TestGateway | undefined;
  #calls: RecordedRequest[] = [];
  #waiters: ((request: RecordedRequest) => void)[] = [];

  constructor(options?: TestGatewayOptions) {
    beforeAll(async () => {
      this.#gateway = await (options === undefined
        ? openShared(manifest)
        : startTestGateway({ manifest, ...options }));
    });
    afterAll(async () => {
      const problems = await ledgerProblems(this.gateway);
      if (options !== undefined) await this.gateway.stop();
      expect(problems).toEqual([]);
    });
    beforeEach(() => {
      this.gateway.upstream.reset();
      this.#calls = [];
      this.#waiters = [];
    });
  }

  get gateway(): TestGateway {
    if (this.#gateway === undefined) throw new Error("the gateway has not started");
    return this.#gateway;
  }

  /** Requests to the vendor, a sign-in left out. */
  get calls(): readonly RecordedRequest[] {
    return this.#calls;
  }

  /** The next request that arrives, a sign-in left out: ask before you send. */
  nextCall(): Promise<RecordedRequest> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** What the following requests get, one after another; the last one for good. */
  answer({ wire }: Pair, ...replies: readonly Said[]): void {
    let next = 0;
    this.gateway.upstream.replyWith((request) => {
      const beside = wire.beside?.(request);
      if (beside !== undefined) return framed(beside);
      this.#calls.push(request);
      this.#waiters.shift()?.(request);
      const reply = replies[Math.min(next++, replies.length - 1)];
      if (reply === undefined) throw new Error("no reply was given");
      return isVendorReply(reply) ? framed(reply) : reply;
    });
  }

  /** A caller with an account of its own. */
  async caller(pair: Pair, options: PayerOptions = {}): Promise<Caller> {
    const payer = await openPayer(this.gateway, options);
    return new Caller(this, pair, payer);
  }
}

/** What is asked unless a case asks otherwise. */
export const plainQuestion: Omit<Question, "model"> = {
  turns: [{ by: "user", content: ["Say hello"] }],
};

export type Ask = Partial<Omit<Question, "stream">>;

/** Speaks one dialect to one vendor's model. */
export class Caller {
  readonly stage: Stage;
  readonly pair: Pair;
  readonly payer: Payer;

  constructor(stage: Stage, pair: Pair, payer: Payer) {
    this.stage = stage;
    this.pair = pair;
    this.payer = payer;
  }

  /** As the wire has it. */
  send(ask: Ask, form: Form, init: RequestInit = {}): Promise<Response> {
    const { driver, vendor } = this.pair;
    const stream = form === "streamed" ? { stream: true } : {};
    const body = driver.toBody({ model: vendor.name, ...plainQuestion, ...ask, ...stream });
    return post({ stage: this.stage, driver, key: this.payer.key, body, init });
  }

  /** To the end of an answer, which must be a good one. */
  async hear(ask: Ask, form: Form): Promise<Heard> {
    const response = await this.send(ask, form);
    const heard = await heardOf(this.pair.driver, form, response);
    if ("error" in heard && heard.error !== undefined)
      throw new Error(`the stream broke: ${JSON.stringify(heard.error)}`);
    return heard;
  }

  /** To the end of a stream, however that is. */
  async listen(ask: Ask): Promise<HeardStream> {
    const response = await this.send(ask, "streamed");
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    return this.pair.driver.fromStream(text);
  }

  /** What is refused. */
  async refusal(ask: Ask, form: Form): Promise<HeardError & { readonly status: number }> {
    return refusalOf(this.pair.driver, await this.send(ask, form));
  }

  /** What the vendor was asked, in neutral words. */
  asked(): Asked {
    const request = this.stage.calls.at(-1);
    if (request === undefined) throw new Error("the vendor was not asked");
    return this.pair.wire.asked(request);
  }
}

export function post(options: {
  readonly stage: { readonly gateway: Pick<TestGateway, "baseUrl"> };
  readonly driver: Driver;
  readonly key: string;
  readonly body: unknown;
  readonly init?: RequestInit;
}): Promise<Response> {
  const { stage, driver, key, body, init = {} } = options;
  return fetch(`${stage.gateway.baseUrl}${driver.path}`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
    headers: {
      "content-type": "application/json",
      ...driver.headers(key),
      ...(init.headers as Record<string, string>),
    },
  });
}

async function heardOf(
  driver: Driver,
  form: Form,
  response: Response,
): Promise<Heard | HeardStream> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  expectHead(response, form);
  return form === "whole" ? driver.fromReply(JSON.parse(text)) : driver.fromStream(text);
}

function expectHead({ headers }: Response, form: Form): void {
  const type = headers.get("content-type") ?? "";
  const expected = form === "whole" ? "application/json" : "text/event-stream";
  if (!type.startsWith(expected)) throw new Error(`content type ${type}`);
  if (!/^req_\w+$/.test(headers.get("x-request-id") ?? "")) throw new Error("no x-request-id");
}

export async function refusalOf(
  driver: Driver,
  response: Response,
): Promise<HeardError & { readonly status: number }> {
  const text = await response.text();
  const { status, headers } = response;
  if (status < 400) throw new Error(`${status}: ${text.slice(0, 300)}`);
  if (headers.get("content-type") !== "application/json") throw new Error(`no JSON: ${text}`);
  if (!/^req_\w+$/.test(headers.get("x-request-id") ?? "")) throw new Error("no x-request-id");
  return { status, ...driver.fromError(JSON.parse(text)) };
}

/** What the vendor answers, in the form in which it was asked. */
export const reply = ({ wire }: Pair, form: Form, answer: Answer): VendorReply =>
  form === "whole" ? wire.whole(answer) : wire.streamed(answer);
