import { Ajv, type ValidateFunction } from "ajv";
import type { TSchema } from "typebox";
import { newId } from "../../base/ids.ts";
import { JsonWeight } from "../../base/json/weight.ts";
import { requestPath } from "../../base/network/address.ts";
import { invalid, Problem } from "../../base/problem.ts";
import { schemaProblem } from "../../base/schema-problem.ts";
import type { Account } from "../../ledger/account.ts";
import { relyingPartyOf } from "../../people/factors/passkeys.ts";
import type { Visitor } from "../../people/people.ts";
import { ChangeLimits } from "./change-limits.ts";
import {
  type Actor,
  actorOf,
  type KitDependencies,
  type Permission,
  type RequestContext,
} from "./context.ts";
import { takesGzip } from "./encoding.ts";
import {
  bearerOf,
  bindingIn,
  checkAccess,
  checkOrigin,
  checkRecent,
  deviceIn,
  isBrowser,
  isOperator,
  noAccount,
  pageOrigin,
  readCookie,
  toCookie,
} from "./entry.ts";
import { FairQueue } from "./fair-queue.ts";
import { readForm } from "./form.ts";
import { apiHeaders, Refused, refuse, toRefusal } from "./refusal.ts";
import { bodyTypeOf, type Route } from "./route.ts";
import { RouteTable } from "./route-table.ts";
import { toStrip } from "./strip.ts";

/** What a body may have at most: a manifest is the largest that is sent. */
const mostBodyBytes = 2 * 1024 * 1024;
/** About ten milliseconds of parsing (base/json/weight.ts): anyone can send a body, signed in or not. */
const mostBodyWeight = 1_500_000;

/** Of the questions to the ledger that one person or one token has open. */
const reportLimits = { maxRunning: 4, maxWaiting: 20 };

const bodyAjv = new Ajv({ strict: false, verbose: true, strictNumbers: true });
const queryAjv = new Ajv({ strict: false, verbose: true, coerceTypes: "array" });

interface Checks {
  readonly query: ValidateFunction | undefined;
  readonly body: ValidateFunction | undefined;
  /** Leaves out of a reply what its schema does not name. */
  readonly strip: (reply: unknown) => unknown;
}

export interface ApiOptions {
  readonly dependencies: KitDependencies;
  readonly routes: readonly Route[];
  /** What the handlers get beside the kit's own context. */
  readonly extend: (request: RequestContext) => object;
}

/** HTTP of the platform API: authenticate, authorize, validate, reply. */
export class Api {
  readonly #dependencies: KitDependencies;
  readonly #extend: ApiOptions["extend"];
  readonly #table: RouteTable;
  readonly #reportQueue = new FairQueue(reportLimits);
  readonly #changeLimits = new ChangeLimits();
  readonly #checks = new Map<Route, Checks>();

  constructor({ dependencies, routes, extend }: ApiOptions) {
    this.#dependencies = dependencies;
    this.#extend = extend;
    this.#table = new RouteTable(routes);
  }

  /** Undefined when the path is none of the API. */
  async respond(request: Request, address: string): Promise<Response | undefined> {
    const path = requestPath(request.url);
    if (path !== "/api" && !path.startsWith("/api/")) return undefined;
    try {
      return await this.#serve(request, path, address);
    } catch (error) {
      if (error instanceof Refused) return refuse(error.refusal);
      if (error instanceof Problem) return refuse(toRefusal(error));
      const id = newId("audit");
      this.#dependencies.log.error("platform request failed", {
        id,
        path,
        detail: String(error),
      });
      return refuse({
        status: 500,
        code: "failed",
        message: `Internal error. Give the operator this reference: ${id}.`,
      });
    }
  }

  async #serve(request: Request, path: string, address: string): Promise<Response> {
    const { route, params } = this.#table.find(request.method, path);
    const isSecure = this.#dependencies.platformUrl().startsWith("https:");
    const isChange = !route.name.startsWith("GET ");
    if (isChange && bearerOf(request) === undefined)
      checkOrigin(request, this.#dependencies.platformUrl());
    const visitor = this.#visitorOf(request, address);
    const find = () => this.#actorOf(request, isSecure);
    const actor = await find();
    // Before any lookup: an anonymous caller must not learn what exists.
    if (actor === undefined) checkAccess(route, actor);
    const account = await this.#accountOf(params["account"]);
    checkAccess(route, actor, account?.id);
    if (params["account"] !== undefined && account === undefined) throw noAccount();
    if (route.needsRecent === true) checkRecent(actor, this.#dependencies.clock.nowMs());
    if (isChange && actor !== undefined && route.access !== "anyone" && route.isUncounted !== true)
      this.#changeLimits.admit(actor, this.#dependencies.clock.nowMs());
    const headers = new Headers(apiHeaders);
    const origin = pageOrigin(request, this.#dependencies.platformUrl());
    const context: RequestContext = {
      actor,
      get account() {
        if (account === undefined) throw noAccount();
        return account;
      },
      isOperator: isOperator(actor),
      visitor,
      isBrowser: isBrowser(request),
      signal: request.signal,
      permission: async () => this.#permission(route, await find(), account),
      inTurn: (question) => this.#reportQueue.run(actorOf(actor).id, question),
      admitSession: (user) =>
        this.#changeLimits.admitSession(user, this.#dependencies.clock.nowMs()),
      origin,
      party: relyingPartyOf(origin),
      signInCookie: readCookie(request, "signIn", isSecure) ?? "",
      headers,
      setCookie: (cookie) => headers.append("set-cookie", toCookie(cookie, isSecure)),
    };
    const extended = Object.assign(context, this.#extend(context));
    const query = this.#readQuery(route, request);
    await route.beforeBody?.(extended);
    const input = {
      params,
      query,
      body: await this.#readBody(route, request),
    };
    if (route.needsRecentFor?.applies(input.body) === true)
      checkRecent(actor, this.#dependencies.clock.nowMs());
    const reply = await route.handle(extended, input);
    if (reply instanceof Response) return reply;
    return toJson(this.#checksOf(route).strip(reply), request, headers);
  }

  #visitorOf(request: Request, address: string): Visitor {
    const device = deviceIn(request);
    const { sessionSecrets, clock } = this.#dependencies;
    return {
      address,
      userAgent: request.headers.get("user-agent") ?? "",
      device: device === null ? undefined : sessionSecrets.readDevice(device, clock.nowMs()),
    };
  }

  async #actorOf(request: Request, isSecure: boolean): Promise<Actor | undefined> {
    const bearer = bearerOf(request);
    if (bearer !== undefined) {
      const token = await this.#dependencies.tokens.find(bearer);
      return token && { kind: "token", token };
    }
    const cookie = readCookie(request, "session", isSecure) ?? "";
    if (!this.#dependencies.sessionSecrets.opens(cookie, bindingIn(request))) return undefined;
    const person = await this.#dependencies.people.find(cookie);
    return person && { kind: "person", person };
  }

  #permission(route: Route, actor: Actor | undefined, account: Account | undefined): Permission {
    try {
      checkAccess(route, actor, account?.id);
      return { isAllowed: true, isOperator: isOperator(actor) };
    } catch {
      return { isAllowed: false, isOperator: false };
    }
  }

  async #accountOf(id: string | undefined): Promise<Account | undefined> {
    const account = id === undefined ? undefined : await this.#dependencies.accounts.find(id);
    // By its id alone: an account that is named like another one's id must not be taken for it.
    return account?.id === id ? account : undefined;
  }

  #readQuery(route: Route, request: Request): unknown {
    const given = Object.fromEntries(new URLSearchParams(request.url.split("?", 2)[1] ?? ""));
    if (route.query === undefined) return undefined;
    this.#check(this.#checksOf(route).query, given, "");
    return given;
  }

  async #readBody(route: Route, request: Request): Promise<unknown> {
    if (route.body === undefined) return undefined;
    const type = (request.headers.get("content-type") ?? "").split(";", 1)[0];
    const wanted = bodyTypeOf(route);
    if (type?.trim().toLowerCase() !== wanted)
      throw new Refused({
        status: 415,
        code: "unsupported_media_type",
        message: `The body must be ${route.isForm === true ? "a form" : "JSON"} with the header Content-Type: ${wanted}.`,
      });
    if (route.isForm === true) {
      const form = await readForm(request);
      this.#check(this.#checksOf(route).body, form, "The body");
      return form;
    }
    const text = await request.text();
    if (Buffer.byteLength(text) > mostBodyBytes) throw tooLarge();
    if (!new JsonWeight(mostBodyWeight).add(Buffer.from(text)))
      throw new Problem({
        code: "invalid",
        message: "The body has too many fields or is nested too deeply.",
      });
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      throw new Problem({ code: "invalid", message: "The body is not valid JSON." });
    }
    this.#check(this.#checksOf(route).body, body, "The body");
    return body;
  }

  #checksOf(route: Route): Checks {
    const known = this.#checks.get(route);
    if (known !== undefined) return known;
    const compile = (ajv: Ajv, schema: TSchema | undefined) => schema && ajv.compile(schema);
    const made = {
      query: compile(queryAjv, route.query),
      body: compile(bodyAjv, route.body),
      strip: route.reply === undefined ? (reply: unknown) => reply : toStrip(route.reply),
    };
    this.#checks.set(route, made);
    return made;
  }

  #check(isValid: ValidateFunction | undefined, value: unknown, whole: string): void {
    if (isValid === undefined || isValid(value)) return;
    const [first] = isValid.errors ?? [];
    const unknown: unknown = first?.params["additionalProperty"];
    if (typeof unknown === "string") throw invalid({ [unknown]: `Unknown field "${unknown}".` });
    const found = schemaProblem(isValid.errors ?? []);
    const field = found?.field === "" ? undefined : found?.field;
    const message = `${field ?? whole} ${found?.problem ?? "is not valid"}.`;
    throw new Problem({ code: "invalid", message, field });
  }
}

const tooLarge = () =>
  new Refused({ status: 413, code: "too_large", message: "The body must not exceed 2 MB." });

/** Charts are long lists of numbers: compressed, they are a tenth, for half a millisecond. */
const packedFrom = 4_096;

function toJson(reply: unknown, request: Request, headers: Headers): Response {
  const text = JSON.stringify(reply ?? null);
  headers.set("content-type", "application/json;charset=utf-8");
  headers.set("vary", "accept-encoding");
  if (text.length < packedFrom || !takesGzip(request.headers.get("accept-encoding")))
    return new Response(text, { headers });
  headers.set("content-encoding", "gzip");
  return new Response(Bun.gzipSync(Buffer.from(text), { level: 1 }), { headers });
}
