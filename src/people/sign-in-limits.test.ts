import { beforeEach, describe, expect, test } from "bun:test";
import { cheapPasswords } from "../../test/setup/cheap-passwords.ts";
import { usePeople } from "../../test/setup/use-people.ts";
import { usePostgres } from "../../test/setup/use-postgres.ts";
import { auditOf } from "../../test/store/audit-sample.ts";
import { SignInTries } from "../store/postgres/shared/sign-in-tries.ts";
import { Passwords } from "./passwords.ts";
import { People, type Person, type Visitor } from "./people.ts";
import { SignInLimits } from "./sign-in-limits.ts";
import { TriesInMemory } from "./tries.ts";

const ada = { email: "ada@example.com", password: "a long enough password" };
const guess = (at: number) => ({ email: `guess-${at}@example.com`, password: "guess" });
const from = (address: string) => ({ userAgent: "", address });
const home = from("192.0.2.1");
const clock = { nowMs: () => Date.UTC(2027, 0, 1) };
const postgres = usePostgres();
const { store, signInAs } = usePeople(ada, clock);
let people: People;

const signIn = (given: typeof ada, visitor: Visitor) => signInAs(people, given, visitor);

const changePassword = (
  { user, session }: Person,
  given: { readonly current: string; readonly password: string },
) => people.changePassword({ user, sessionId: session.id, ...given }, auditOf());

async function fail(times: number, addressOf: (at: number) => string): Promise<void> {
  for (let at = 0; at < times; at++)
    await expect(signIn(guess(at), from(addressOf(at)))).rejects.toThrow(
      "Incorrect email address or password",
    );
}

const counters = {
  "in memory": () => new TriesInMemory(),
  "in PostgreSQL": () => new SignInTries(postgres().pool),
};

/** Nothing is counted yet. */
function countAnew(where: keyof typeof counters): void {
  const limits = new SignInLimits(counters[where]());
  people = new People(store.people, clock, { passwords: new Passwords(cheapPasswords), limits });
}

// Beside these, the counters have a contract of their own: store/postgres/shared/shared.test.ts.
describe.each(["in memory", "in PostgreSQL"] as const)("counted %s", (where) => {
  beforeEach(() => countAnew(where));

  test("failures for one person from everywhere slow down only networks that the person does not use", async () => {
    // The sign-in at the end makes it one of the person's networks.
    const strange = from(where === "in memory" ? "198.51.100.1" : "198.51.100.2");
    await signIn(ada, home);
    const wrong = { ...ada, password: "guess" };
    for (let at = 0; at < 100; at++)
      await expect(signIn(wrong, from(`203.0.113.${at}`))).rejects.toThrow(
        "Incorrect email address or password",
      );
    await expect(signIn(ada, strange)).rejects.toThrow("Too many failed attempts");
    expect(await signIn(ada, home)).toBeString();
    const person = await store.people.userByEmail(ada.email);
    const device = { id: "a browser", hasProof: false, userId: person?.id ?? "" };
    expect(await signIn(ada, { ...strange, device })).toBeString();
  });

  test("wrong logout tokens of a network count alone, also many at once", async () => {
    const { limits } = people;
    const nowMs = clock.nowMs();
    const network = "198.51.100.77";
    const counts = Array.from({ length: 120 }, () => limits.countLogout(network, nowMs));
    const results = await Promise.allSettled(counts);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(50);
    await expect(limits.checkLogout(network, nowMs)).rejects.toMatchObject({ waitMs: 20_000 });
    await limits.checkLogout(network, nowMs + 20_000);
    await limits.checkLogout("198.51.100.78", nowMs);
    expect(await signIn(ada, from(network))).toBeString();
  });
});

describe("counted in memory", () => {
  beforeEach(() => countAnew("in memory"));

  test("however often people of one address sign in rightly, nobody there has to wait", async () => {
    for (let at = 0; at < 60; at++) expect(await signIn(ada, home)).toBeString();
  });

  test("signing in rightly takes no failure of others off the address", async () => {
    await fail(49, () => home.address);
    expect(await signIn(ada, home)).toBeString();
    await fail(1, () => home.address);
    await expect(signIn(ada, home)).rejects.toThrow("Too many failed attempts");
  });

  test("the addresses of one network of IPv6 count as one, and another network's do not", async () => {
    await fail(50, (at) => `2001:db8:0:1::${at.toString(16)}`);
    await expect(signIn(ada, from("2001:db8:0:1:ffff::9"))).rejects.toThrow(
      "Too many failed attempts",
    );
    expect(await signIn(ada, from("2001:db8:0:2::1"))).toBeString();
  });

  test("failures elsewhere keep nobody out, however many there are", async () => {
    const wrong = { ...ada, password: "guess" };
    for (let at = 0; at < 10; at++)
      await expect(signIn(wrong, from("203.0.113.1"))).rejects.toThrow(
        "Incorrect email address or password",
      );
    await expect(signIn(ada, from("203.0.113.1"))).rejects.toThrow("Too many failed attempts");
    expect(await signIn(ada, home)).toBeString();
  });

  describe("a browser that its person has signed in with before", () => {
    const wrong = { ...ada, password: "guess" };
    let known: Visitor;
    beforeEach(async () => {
      const user = await store.people.userByEmail(ada.email);
      known = { ...home, device: { id: "a browser", hasProof: false, userId: user?.id ?? "" } };
    });

    test("is let in whatever others of its network have failed", async () => {
      for (let at = 0; at < 10; at++)
        await expect(signIn(wrong, home)).rejects.toThrow("Incorrect email address or password");
      await fail(40, () => home.address);
      await expect(signIn(ada, home)).rejects.toThrow("Too many failed attempts");
      expect(await signIn(ada, known)).toBeString();
    });

    test("cannot guess without end, and does not use up what others have there", async () => {
      for (let at = 0; at < 30; at++)
        await expect(signIn(wrong, known)).rejects.toThrow("Incorrect email address or password");
      // From now on it is one of its network.
      for (let at = 0; at < 10; at++)
        await expect(signIn(wrong, known)).rejects.toThrow("Incorrect email address or password");
      await expect(signIn(ada, known)).rejects.toThrow("Too many failed attempts");
      expect(await signIn(ada, from("198.51.100.77"))).toBeString();
    });

    test("is nobody's for another person", async () => {
      const others = {
        ...known,
        device: { id: "a browser", hasProof: false, userId: "user_other" },
      };
      for (let at = 0; at < 10; at++)
        await expect(signIn(wrong, others)).rejects.toThrow("Incorrect email address or password");
      await expect(signIn(ada, others)).rejects.toThrow("Too many failed attempts");
    });
  });

  test("who is signed in changes their password whatever others have failed with their email", async () => {
    const person = await people.find(await signIn(ada, home));
    if (person === undefined) throw new Error("nobody is signed in");
    for (let at = 0; at < 10; at++)
      await expect(signIn({ ...ada, password: "guess" }, home)).rejects.toThrow(
        "Incorrect email address or password",
      );
    await changePassword(person, { current: ada.password, password: "a new good password" });
    await changePassword(person, { current: "a new good password", password: ada.password });
  });

  test("who is signed in changes their password whatever others of the address have failed", async () => {
    const person = await people.find(await signIn(ada, home));
    if (person === undefined) throw new Error("nobody is signed in");
    await fail(50, () => home.address);
    await changePassword(person, { current: ada.password, password: "a new good password" });
    await changePassword(person, { current: "a new good password", password: ada.password });
  });

  test("who is signed in cannot guess the password without end", async () => {
    const person = await people.find(await signIn(ada, home));
    if (person === undefined) throw new Error("nobody is signed in");
    const change = () => changePassword(person, { ...ada, current: "guess" });
    for (let at = 0; at < 10; at++)
      await expect(change()).rejects.toThrow("Incorrect email address or password");
    await expect(change()).rejects.toThrow("Too many failed attempts");
  });
});
