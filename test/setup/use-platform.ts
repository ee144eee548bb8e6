import { afterAll, beforeAll, beforeEach } from "bun:test";
import type { ReplySource } from "../fake/upstream.ts";
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "./harness.ts";
import { joinMember, joinOperator, type Visitor } from "./platform-home.ts";
import { openShared } from "./use-gateway.ts";

type Role = "viewer" | "developer" | "owner";

interface PlatformOptions extends TestGatewayOptions {
  /** Who joins the account beside the operator. */
  readonly members?: readonly Role[];
  /** What the upstream answers unless a test changes it. */
  readonly reply?: ReplySource;
  /** For tests that look at nothing but their own account and people: the process's one gateway. */
  readonly isShared?: true;
}

/** A gateway with an operator and members of its account; usable once a hook or a test runs. */
interface Platform extends Readonly<Record<Role, Visitor>> {
  readonly gateway: TestGateway;
  readonly operator: Visitor;
  /** Of the account, for routes. */
  readonly params: { readonly account: string };
}

/** One platform for all tests of a file or of a `describe`. */
export function usePlatform(options: PlatformOptions = {}): Platform {
  const { members = [], reply, isShared = false, ...rest } = options;
  const held: { gateway?: TestGateway } = {};
  const visitors = new Map<string, Visitor>();
  beforeAll(async () => {
    const gateway = isShared ? await openShared(rest.manifest) : await startTestGateway(rest);
    held.gateway = gateway;
    const operator = await joinOperator(gateway);
    visitors.set("operator", operator);
    for (const role of members)
      visitors.set(role, await joinMember(gateway, operator, { account: gateway.account, role }));
  });
  beforeEach(() => {
    held.gateway?.upstream.reset();
    if (reply !== undefined) held.gateway?.upstream.replyWith(reply);
  });
  afterAll(async () => {
    if (!isShared) await held.gateway?.stop();
  });
  const who = (name: string) => later<Visitor>(() => visitors.get(name), name);
  const gateway = later<TestGateway>(() => held.gateway, "gateway");
  return {
    gateway,
    operator: who("operator"),
    viewer: who("viewer"),
    developer: who("developer"),
    owner: who("owner"),
    params: {
      get account() {
        return gateway.account;
      },
    },
  };
}

/** Something that can be named before it is there. */
export function later<T extends object>(find: () => T | undefined, name: string): T {
  return new Proxy({} as T, {
    get(_, property) {
      const found = find();
      if (found === undefined) throw new Error(`There is no ${name} here, or not yet.`);
      return Reflect.get(found, property);
    },
  });
}
