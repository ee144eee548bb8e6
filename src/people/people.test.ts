import { beforeEach, expect, spyOn, test } from "bun:test";
import { cheapPasswords } from "../../test/setup/cheap-passwords.ts";
import { usePeople } from "../../test/setup/use-people.ts";
import { auditOf } from "../../test/store/audit-sample.ts";
import { Invites } from "./invites.ts";
import { Passwords } from "./passwords.ts";
import { People, type Visitor } from "./people.ts";
import { usualPolicy } from "./session-policy.ts";

const password = "a long enough password";
const home = { userAgent: "", address: "192.0.2.1" };
const dayMs = 86_400_000;
const passwords = new Passwords(cheapPasswords);
const ada = { email: "ada@example.com", password };

let nowMs = Date.UTC(2027, 0, 1);
const clock = { nowMs: () => nowMs };
const { store, signInAs } = usePeople(ada, clock);
let people: People;
// Nothing is counted yet.
beforeEach(() => {
  people = new People(store.people, clock, { passwords });
});

const signIn = (given: typeof ada, visitor: Visitor) => signInAs(people, given, visitor);

test.each([
  ["the same", "https://login.example", "https://login.example/", true],
  ["another one", "https://login.example", "https://new.example/", false],
  ["none", "https://login.example", undefined, false],
  ["another tenant", "https://login.example/a", "https://login.example/b", false],
])("a session of a provider goes on while it is set up: %s", async (_, issuer, now, goesOn) => {
  const { id: userId } = await people.authenticate(ada, home);
  const { secret, session } = people.newSession({ userId, visitor: home, isBound: true, issuer });
  await store.people.addSession(session, auditOf());
  const policy = { ...usualPolicy, identityIssuer: now };
  const later = new People(store.people, clock, { passwords, policy });
  expect((await later.find(secret)) !== undefined).toBe(goesOn);
});

test("a session that is used every day ends after ninety days all the same", async () => {
  const secret = await signIn(ada, home);
  const startMs = nowMs;
  for (let day = 1; day < 90; day++) {
    nowMs = startMs + day * dayMs;
    expect((await people.find(secret))?.user.email).toBe(ada.email);
  }
  nowMs = startMs + 90 * dayMs - 1;
  expect(await people.find(secret)).toBeDefined();
  nowMs = startMs + 90 * dayMs;
  expect(await people.find(secret)).toBeUndefined();
});

test("an unknown email costs the same work as a wrong password", async () => {
  people = new People(store.people, clock);
  const invites = new Invites(people);
  const { secret } = await invites.operator({ by: { name: "test", id: "" } }, () => auditOf());
  const email = "grace@example.com";
  const joining = { secret, name: "Grace", email, password, visitor: home, isBound: false };
  await invites.accept(joining, () => auditOf());
  const verify = spyOn(Bun.password, "verify");
  try {
    const costs: string[] = [];
    for (const email of [joining.email, "nobody@example.com", "nobody-else@example.com"]) {
      verify.mockClear();
      await expect(signIn({ email, password: "guess" }, home)).rejects.toThrow(
        "Incorrect email address or password.",
      );
      expect(verify).toHaveBeenCalledTimes(1);
      const [given, hash] = verify.mock.calls[0] ?? [];
      expect(given).toBe("guess");
      costs.push(String(hash).split("$").slice(0, 4).join("$"));
    }
    expect(costs[0]).toBe("$argon2id$v=19$m=19456,t=2,p=1");
    expect(new Set(costs).size).toBe(1);
  } finally {
    verify.mockRestore();
  }
});
