import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { TicketExpired } from "../../../src/people/factors/tickets.ts";
import { Identities } from "../../../src/people/identity/identities.ts";
import { IdentityProvider } from "../../../src/people/identity/provider.ts";
import { toRoleRules } from "../../../src/people/identity/roles.ts";
import { People } from "../../../src/people/people.ts";
import { createSecrets } from "../../../src/secrets/secrets.ts";
import { createPeopleStore } from "../../../src/store/sql/people/people.ts";
import { type LyingProvider, lyingClient, startLyingProvider } from "../../fake/lying-provider.ts";
import { freePort } from "../../setup/platform-home.ts";
import { TestClock } from "../../setup/second-factor.ts";
import { usePostgres } from "../../setup/use-postgres.ts";
import { auditOf } from "../../store/audit-sample.ts";

setDefaultTimeout(60_000);

const postgres = usePostgres();
let provider: LyingProvider;
beforeAll(async () => {
  provider = await startLyingProvider(freePort());
});
beforeEach(() => {
  provider.lie = {};
});
afterAll(() => provider.stop());

/** Times of tokens are compared with it, too. */
const clock = new TestClock();

/** What one platform process has: nothing but the database and the master secret is shared. */
function openProcess() {
  const people = new People(createPeopleStore(postgres().db), clock);
  const client = { clientId: lyingClient, clientSecret: undefined, clientAuth: "basic" } as const;
  const named = { name: "Example Corp", scopes: "openid", groupsClaim: "groups" };
  const identities = new Identities({
    provider: new IdentityProvider({ issuer: provider.issuer, ...client, ...named }, clock),
    people,
    sealing: createSecrets("the same master secret in all processes"),
    policy: {
      rules: toRoleRules(["team=one:owner", "admins=operator"]),
      linksByEmail: false,
      trustsEmail: false,
      secondFactor: "trust",
    },
    findAccount: async (text) => ({ id: text }),
  });
  return { people, identities };
}

const visitor = { userAgent: "", address: "192.0.2.1" };
const audits = () => ({ entered: auditOf(), connected: auditOf(), changed: () => auditOf() });

async function begin({ identities }: ReturnType<typeof openProcess>) {
  const { url, ticket, holder } = await identities.begin("http://127.0.0.1/sign-in/callback");
  return { ticket, holder, search: provider.answer(url), visitor, isBound: false, admit: () => {} };
}

test("another process completes the sign-in, and of several at once one does", async () => {
  const processes = [openProcess(), openProcess(), openProcess()] as const;
  const [one] = processes;
  const enterAtOnce = async () => {
    const given = await begin(one);
    const entries = processes.map(({ identities }) => identities.enter(given, audits));
    const results = await Promise.allSettled(entries);
    return results.filter(({ status }) => status === "fulfilled").length;
  };
  // The first time of a person, and as one who is known.
  expect([await enterAtOnce(), await enterAtOnce()]).toEqual([1, 1]);
  const { store } = one.people;
  const users = await store.users();
  expect(users.map(({ email }) => email)).toEqual(["honest@example.com"]);
  expect(await store.sessions(users[0]?.id ?? "")).toHaveLength(2);
});

test("a sign-out at the provider that several processes get at once counts once", async () => {
  const processes = [openProcess(), openProcess(), openProcess()] as const;
  const [one] = processes;
  const { user } = await one.identities.enter(await begin(one), audits);
  const token = await provider.logoutToken();
  const results = await Promise.allSettled(
    processes.map(({ identities }) => identities.loggedOut({ token, visitor }, () => auditOf())),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(await one.people.store.sessions(user.id)).toEqual([]);
});

test("a sign-in that began before a sign-out at another process is refused, a later one is not", async () => {
  const [one, other] = [openProcess(), openProcess()];
  const before = await begin(one);
  const token = await provider.logoutToken();
  await other.identities.loggedOut({ token, visitor }, () => auditOf());
  await expect(one.identities.enter(before, audits)).rejects.toBeInstanceOf(TicketExpired);
  clock.ms += 1;
  await one.identities.enter(await begin(other), audits);
});

test("groups give and take rights on PostgreSQL as they do on SQLite", async () => {
  const home = openProcess();
  const { store } = home.people;
  const enter = async (groups: readonly string[]) => {
    provider.lie = { claims: { groups: [...groups] } };
    return home.identities.enter(await begin(home), audits);
  };
  const { user } = await enter(["team", "admins"]);
  const rights = async () => [
    (await store.user(user.id))?.isOperator,
    (await store.memberships({ userId: user.id })).map(({ role }) => role),
  ];
  expect(await rights()).toEqual([true, ["owner"]]);
  await enter(["team"]);
  expect(await rights()).toEqual([false, ["owner"]]);
  await expect(enter([])).rejects.toThrow("none of your groups may use this platform");
  expect(await rights()).toEqual([false, []]);
  expect(await store.sessions(user.id)).toEqual([]);
});
