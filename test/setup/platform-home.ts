import { Ajv, type ValidateFunction } from "ajv";
import { type Api, routes } from "../../src/platform/routes.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./harness.ts";
import { platformFetch } from "./platform-fetch.ts";

export const password = "a long enough password";

/** Somebody at the platform: a browser's cookie, a token, or nobody. */
export interface Visitor {
  readonly cookie: string;
  /** Sent with everything. */
  readonly headers: Readonly<Record<string, string>>;
  ask(name: keyof Api | (string & {}), options?: AskOptions): Promise<Answer>;
}

export interface AskOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  /** As it came: a test says what it expects of it. */
  readonly body: AnswerBody;
  readonly response: Response;
}

type AnswerBody = ReturnType<typeof JSON.parse>;

/** The account that a path means where a test names none: the gateway's own. */
const ownAccounts = new Map<string, string>();

export function visitor(platformUrl: string, headers: Readonly<Record<string, string>>): Visitor {
  return {
    cookie: headers["cookie"] ?? "",
    headers,
    async ask(name, { params = {}, query = {}, body, headers: more = {} } = {}) {
      const [method = "", path = ""] = name.split(" ");
      const given = { account: ownAccounts.get(platformUrl) ?? ":account", ...params };
      const place = path.replaceAll(/:(\w+)/g, (_, key: string) =>
        encodeURIComponent(new Map(Object.entries(given)).get(key) ?? `:${key}`),
      );
      const search = new URLSearchParams(query).toString();
      const response = await platformFetch(
        `${platformUrl}${place}${search === "" ? "" : `?${search}`}`,
        {
          method,
          headers: {
            ...headers,
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...more,
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        },
      );
      const text = await response.clone().text();
      const isJson = response.headers.get("content-type")?.includes("json") === true;
      if (isJson) checkReply(name, response.status, JSON.parse(text));
      return { status: response.status, body: isJson ? JSON.parse(text) : text, response };
    },
  };
}

export const nobody = (platformUrl: string) => visitor(platformUrl, {});
export const machine = (platformUrl: string, token: string) =>
  visitor(platformUrl, { authorization: `Bearer ${token}` });

/** A gateway for one test, which takes it by `await using`. */
export async function briefGateway(
  options: TestGatewayOptions = {},
): Promise<TestGateway & AsyncDisposable> {
  const gateway = await startTestGateway(options);
  return { ...gateway, [Symbol.asyncDispose]: () => gateway.stop() };
}

/** Opens a link as a newcomer would. */
export async function join(
  platformUrl: string,
  link: string,
  person: { readonly email: string; readonly name?: string },
): Promise<Visitor> {
  const answer = await nobody(platformUrl).ask("POST /api/invites/accept", {
    body: { token: link.split("#")[1], name: person.name ?? "Ada", email: person.email, password },
  });
  if (answer.status !== 200) throw new Error(`not joined: ${JSON.stringify(answer.body)}`);
  const cookie = answer.response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  return visitor(platformUrl, { cookie });
}

/** The first operator, by the link that the first start prints. */
export async function joinOperator(gateway: TestGateway): Promise<Visitor> {
  const { server, platformUrl, account } = gateway;
  ownAccounts.set(platformUrl, account);
  const first = await server.operations.operators.first({});
  const { link } = first ?? (await server.operations.operators.invite({}));
  return join(platformUrl, link, { email: `operator-${crypto.randomUUID()}@example.com` });
}

export async function joinMember(
  gateway: TestGateway,
  operator: Visitor,
  options: { readonly account?: string; readonly role: string; readonly email?: string },
): Promise<Visitor> {
  const {
    account = gateway.account,
    role,
    email = `${role}-${crypto.randomUUID()}@example.com`,
  } = options;
  if (role === "owner") await prove(operator);
  const { body } = await operator.ask("POST /api/accounts/:account/invites", {
    params: { account },
    body: { role },
  });
  return join(gateway.platformUrl, body.link, { email });
}

/** The user whose session it is. */
export const userOf = async (who: Visitor) => (await who.ask("GET /api/session")).body.user;
export const idOf = async (who: Visitor): Promise<string> => (await userOf(who)).id;

/** The secret of a link. */
export const tokenOf = (link = ""): string => link.split("#")[1] ?? "";
/** What somebody who has a link is told of it. */
export const lookAt = (platformUrl: string, link?: string): Promise<Answer> =>
  nobody(platformUrl).ask("POST /api/invites/look", { body: { token: tokenOf(link) } });

export const signInWith = (platformUrl: string, email: string, given = password): Promise<Answer> =>
  nobody(platformUrl).ask("POST /api/session", { body: { email, password: given } });

/** A refusal's status, and the field that is wrong. */
export async function refusal(asked: Promise<Answer>): Promise<readonly unknown[]> {
  const { status, body } = await asked;
  return [status, body.error?.field];
}
/** A refusal's status and code. */
export async function refusalCode(asked: Promise<Answer>): Promise<readonly unknown[]> {
  const { status, body } = await asked;
  return [status, body.error?.code];
}

/** For who signed in long ago on the test's clock, and has no second factor. */
export const prove = (who: Visitor) => who.ask("POST /api/me/verify", { body: { password } });

const ajv = new Ajv({ strict: false, allErrors: true, formats: { "date-time": true, date: true } });
const replies = new Map<string, unknown>(routes.map(({ name, reply }) => [name, reply]));
const checks = new Map<string, ValidateFunction>();
const isRefusal = ajv.compile({
  type: "object",
  required: ["error"],
  additionalProperties: false,
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      additionalProperties: false,
      properties: {
        code: { type: "string" },
        message: { type: "string", minLength: 1 },
        field: { type: "string" },
      },
    },
  },
});

/** What is not described is not said: a field too many may be a secret. */
function checkReply(name: string, status: number, body: unknown): void {
  const isRight = status === 200 ? checkOf(name) : isRefusal;
  if (isRight !== undefined && !isRight(body))
    throw new Error(`reply of ${name}: ${ajv.errorsText(isRight.errors)}`);
}

/** Compiled on first use: a file asks for few of the routes. */
function checkOf(name: string): ValidateFunction | undefined {
  const reply = replies.get(name);
  if (reply === undefined) return undefined;
  const check = checks.get(name) ?? ajv.compile(closed(reply) as object);
  checks.set(name, check);
  return check;
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closed(value)]),
  );
  return "properties" in copy && copy["type"] === "object"
    ? { additionalProperties: false, ...copy }
    : copy;
}

/** A port that nobody listens on at this moment: behind a proxy, the server cannot report its own. */
export function freePort(): string {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return String(port);
}
