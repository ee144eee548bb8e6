import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mostPasskeys, type Passkey, type Proof } from "../../src/people/factors/store.ts";
import type { PeopleStore } from "../../src/people/store.ts";
import { auditOf } from "./audit-sample.ts";
import { join } from "./people-contract.ts";
import { inviteOf, sessionOf, userOf } from "./people-samples.ts";
import type { CreateTables, OpenTables } from "./tables-contract.ts";

const userId = "user_1";
/** The one that adds factors. */
const sessionId = "s0";
const totp = { userId, sealedSecret: "sealed", lastStep: 7, createdAtMs: 1 };
const passkeyOf = (id: string, rest: Partial<Passkey> = {}): Passkey => ({
  id,
  userId,
  name: "Phone",
  publicKey: "key",
  counter: 0,
  transports: ["internal", "hybrid"],
  rpId: "localhost",
  isBackedUp: true,
  createdAtMs: 1,
  ...rest,
});
let made = 0;
const ticketOf = (id = `ticket_${made++}`) => ({ id, expiresAtMs: 9, atMs: 0 });
const totpProof = (step: number): Proof => ({ factor: "totp", userId, step });
const used = (id: string, counter: number, rest: Partial<Proof> = {}) =>
  ({ factor: "passkey", userId, id, counter, isBackedUp: false, atMs: 5, ...rest }) as Proof;

/** What the store keeps of second factors, whatever the database. */
export function factorsContract(name: string, create: CreateTables): void {
  describe(`second factors on ${name}`, () => {
    let tables: OpenTables;
    beforeEach(async () => {
      tables = await create();
    });
    afterEach(() => tables.remove());
    const people = () => tables.store.people;
    factorTests(people);
    firstFactorTests(people);
    codeTests(people);
    proofTests(people);
  });
}

const addTotp = (people: PeopleStore, hashes: readonly string[] = ["h1", "h2"]) =>
  people.addTotp({ totp, recoveryHashes: hashes, ticket: ticketOf(), sessionId }, auditOf());
const addPasskey = (people: PeopleStore, passkey: Passkey, hashes: readonly string[] = ["h3"]) =>
  people.addPasskey({ passkey, recoveryHashes: hashes, ticket: ticketOf(), sessionId }, auditOf());

function factorTests(people: () => PeopleStore): void {
  test("recovery codes come with the first factor and go with the last", async () => {
    expect(await people().factors(userId)).toEqual({
      totp: undefined,
      passkeys: [],
      recoveryCodes: 0,
    });
    expect(await addTotp(people())).toEqual({ hasNewCodes: true });
    expect(await addTotp(people())).toBe("taken");
    expect(await addPasskey(people(), passkeyOf("p1"))).toEqual({ hasNewCodes: false });
    expect(await people().factors(userId)).toEqual({
      totp,
      passkeys: [passkeyOf("p1")],
      recoveryCodes: 2,
    });
    expect(await people().withFactors()).toEqual(new Set([userId]));
    expect(await people().removeTotp(userId, auditOf())).toBe(true);
    expect(await people().removeTotp(userId, auditOf())).toBe(false);
    expect((await people().factors(userId)).recoveryCodes).toBe(2);
    expect(await people().removePasskey({ userId: "user_2", id: "p1" }, auditOf())).toBe(false);
    expect(await people().removePasskey({ userId, id: "p1" }, auditOf())).toBe(true);
    expect((await people().factors(userId)).recoveryCodes).toBe(0);
    expect(await people().replaceRecoveryCodes(userId, ["h9"], auditOf())).toBe(false);
  });

  test("a passkey belongs to one user, has a name, and there is a bound", async () => {
    await addPasskey(people(), passkeyOf("p0"));
    expect(await addPasskey(people(), passkeyOf("p0", { userId: "user_2" }))).toBe("taken");
    expect((await people().factors("user_2")).recoveryCodes).toBe(0);
    const rename = (owner: string) =>
      people().renamePasskey({ userId: owner, id: "p0" }, "Laptop", auditOf());
    expect(await rename("user_2")).toBe(false);
    expect(await rename(userId)).toBe(true);
    expect(await people().passkey("p0")).toEqual(passkeyOf("p0", { name: "Laptop" }));
    expect(await people().passkey("p99")).toBeUndefined();
    for (let at = 1; at < mostPasskeys; at++) await addPasskey(people(), passkeyOf(`p${at}`));
    expect(await addPasskey(people(), passkeyOf("p98"))).toBe("full");
  });

  test("a ticket adds one factor", async () => {
    const ticket = ticketOf();
    const add = (id: string) =>
      people().addPasskey(
        { passkey: passkeyOf(id), recoveryHashes: ["h"], ticket, sessionId },
        auditOf(),
      );
    const both = await Promise.all([add("p1"), add("p2")]);
    expect(both.filter((one) => one === "ticket-used")).toHaveLength(1);
    expect((await people().factors(userId)).passkeys).toHaveLength(1);
    await people().eraseExpired(8);
    expect(await add("p3")).toBe("ticket-used");
    await people().eraseExpired(9);
    expect(await add("p3")).toEqual({ hasNewCodes: false });
  });

  test("a reset removes all factors and sessions of one user", async () => {
    await addTotp(people());
    await addPasskey(people(), passkeyOf("p1"));
    await addPasskey(people(), passkeyOf("p2", { userId: "user_2" }));
    await people().addSession(sessionOf("s1"), auditOf());
    expect(await people().resetFactors(userId, auditOf())).toBe(true);
    expect(await people().resetFactors(userId, auditOf())).toBe(false);
    expect(await people().sessions(userId)).toEqual([]);
    expect(await people().withFactors()).toEqual(new Set(["user_2"]));
    expect((await people().factors(userId)).recoveryCodes).toBe(0);
  });
}

function firstFactorTests(people: () => PeopleStore): void {
  for (const [factor, add] of [
    ["totp", addTotp],
    ["passkey", (to: PeopleStore) => addPasskey(to, passkeyOf("first"))],
  ] as const)
    test(`a first factor (${factor}) ends the other sessions of its user, a second one none`, async () => {
      const begun = (id: string, rest = {}) => people().addSession(sessionOf(id, rest), auditOf());
      for (const id of [sessionId, "s1", "s2"]) await begun(id);
      await begun("other", { userId: "user_2" });
      await add(people());
      expect(await people().sessions(userId)).toEqual([sessionOf(sessionId, { factor })]);
      expect(await people().sessions("user_2")).toHaveLength(1);
      await begun("s3");
      await addPasskey(people(), passkeyOf("second"));
      expect(await people().sessions(userId)).toHaveLength(2);
    });
}

const begin = (people: PeopleStore, id: string, proof: Proof) =>
  people.beginSession(sessionOf(id, { factor: proof.factor, verifiedAtMs: 3 }), proof, auditOf());
const ids = async (people: PeopleStore) => (await people.sessions(userId)).map(({ id }) => id);

function codeTests(people: () => PeopleStore): void {
  test("a code of an app begins one session, and earlier ones none", async () => {
    await addTotp(people());
    expect(await begin(people(), "s0", totpProof(7))).toBe("spent");
    const both = await Promise.all([
      begin(people(), "s1", totpProof(9)),
      begin(people(), "s2", totpProof(9)),
    ]);
    expect(both.toSorted()).toEqual(["accepted", "spent"]);
    expect(await begin(people(), "s3", totpProof(8))).toBe("spent");
    expect(await begin(people(), "s4", totpProof(10))).toBe("accepted");
    expect(await ids(people())).toHaveLength(2);
    expect(await people().sessionByHash("hash of s4")).toEqual(
      sessionOf("s4", { factor: "totp", verifiedAtMs: 3 }),
    );
  });

  test("a recovery code begins one session, and what fails uses nothing up", async () => {
    await addTotp(people());
    const ticket = ticketOf();
    const proof = (hash: string, rest: Partial<Proof> = {}) =>
      ({ factor: "recovery", userId, hash, ...rest }) as Proof;
    expect(await begin(people(), "s0", proof("h9", { ticket }))).toBe("spent");
    expect(await begin(people(), "s0", proof("h1", { userId: "user_2" }))).toBe("spent");
    const both = await Promise.all([
      begin(people(), "s1", proof("h1")),
      begin(people(), "s2", proof("h1")),
    ]);
    expect(both.toSorted()).toEqual(["accepted", "spent"]);
    expect(await begin(people(), "s3", proof("h2", { ticket }))).toBe("accepted");
    expect((await people().factors(userId)).recoveryCodes).toBe(0);
  });

  test("a ticket begins one session", async () => {
    await addTotp(people());
    const ticket = ticketOf();
    const both = await Promise.all(
      [9, 11].map((step) => begin(people(), `s${step}`, { ...totpProof(step), ticket })),
    );
    expect(both.toSorted()).toEqual(["accepted", "ticket-used"]);
    expect(await ids(people())).toHaveLength(1);
  });
}

function proofTests(people: () => PeopleStore): void {
  test("a passkey that counts must count on; one that says 0 need not", async () => {
    await addPasskey(people(), passkeyOf("still"));
    await addPasskey(people(), passkeyOf("counts", { counter: 3 }));
    for (const [id, counter, outcome] of [
      ["still", 0, "accepted"],
      ["still", 0, "accepted"],
      ["counts", 3, "cloned"],
      ["counts", 0, "cloned"],
      ["counts", 5, "accepted"],
      ["counts", 4, "cloned"],
    ] as const)
      expect(await begin(people(), `s${made++}`, used(id, counter))).toBe(outcome);
    const both = await Promise.all([
      begin(people(), "t1", used("counts", 6)),
      begin(people(), "t2", used("counts", 6)),
    ]);
    expect(both.toSorted()).toEqual(["accepted", "cloned"]);
    expect(await begin(people(), "t3", used("counts", 9, { userId: "user_2" }))).toBe("cloned");
    expect(await people().passkey("counts")).toMatchObject({
      counter: 6,
      lastUsedMs: 5,
      isBackedUp: false,
    });
  });

  test("a session notes when its person was verified, if the proof holds", async () => {
    await addTotp(people());
    await people().addSession(sessionOf("s1"), auditOf());
    const verify = (id: string, proof?: Proof) =>
      people().verifySession({ id, atMs: 50, proof }, auditOf());
    expect(await verify("s1", totpProof(7))).toBe("spent");
    expect((await people().sessionByHash("hash of s1"))?.verifiedAtMs).toBeUndefined();
    expect(await verify("s1", totpProof(8))).toBe("accepted");
    expect(await people().sessionByHash("hash of s1")).toMatchObject({
      verifiedAtMs: 50,
      factor: "totp",
    });
    expect(await verify("gone", totpProof(9))).toBe("spent");
    expect(await verify("s1", totpProof(9))).toBe("accepted");
  });

  test("a link whose proof does not hold stays as it was", async () => {
    await join(people(), userOf(userId));
    await addTotp(people());
    await people().addInvite(inviteOf("invite_1", { kind: "reset", userId }), auditOf());
    const accept = (step: number) =>
      people().accept(
        {
          inviteId: "invite_1",
          newPassword: { userId, passwordHash: "new" },
          addSession: sessionOf(`s${step}`),
          proof: totpProof(step),
        },
        auditOf(),
      );
    expect(await accept(7)).toBe("spent");
    expect((await people().user(userId))?.passwordHash).toBe("x");
    expect(await accept(8)).toBe("accepted");
    expect((await people().user(userId))?.passwordHash).toBe("new");
    expect(await accept(9)).toBe("used");
  });
}
