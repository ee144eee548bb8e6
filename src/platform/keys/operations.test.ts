import { describe, expect, test } from "bun:test";
import { problemOf, useOperations } from "../../../test/setup/operations-home.ts";
import { KeyDirectory } from "../../keys/directory.ts";
import { createSecrets } from "../../secrets/secrets.ts";

let account: string;
const home = useOperations(async ({ operations }) => {
  account = (await operations.accounts.create({ name: "acme" })).id;
});

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Which of some secrets open a key at a moment, as a gateway on this store would see it. */
async function opens(secrets: readonly string[], nowMs = home.clock.ms) {
  const { keyHashKey } = createSecrets("a master secret that is long enough for tests");
  const directory = new KeyDirectory(home.store.keys, keyHashKey);
  await directory.reloadAll();
  return secrets.map((secret) => directory.verify(secret, nowMs)?.id);
}

describe("a rotation", () => {
  test("gives the same key a new secret, and the old one a day", async () => {
    const made = await home.operations.keys.create({
      account,
      name: "ci",
      models: ["a"],
      rpm: "3",
    });
    home.clock.ms += minuteMs;
    const { id } = made;
    const rotated = await home.operations.keys.rotate({ id });
    const { key, warnings: _, ...view } = rotated;
    expect(key).not.toBe(made.key);
    expect(view).toMatchObject({
      id,
      name: "ci",
      models: ["a"],
      created_at: made.created_at,
      hint: `sk-svc-…${key.slice(-4)}`,
      previous: { hint: made.hint, expires_at: "2027-03-16T12:01:00Z" },
    });
    expect(view.limits).toEqual(made.limits);
    expect(await home.operations.keys.list({})).toEqual([view]);
    const endMs = home.clock.ms + dayMs;
    expect(await opens([made.key, key], endMs - 1)).toEqual([id, id]);
    expect(await opens([made.key, key], endMs)).toEqual([undefined, id]);
  });

  test("takes as long as it is told, or ends the old secret at once", async () => {
    const made = await home.operations.keys.create({ account });
    const { id } = made;
    const second = await home.operations.keys.rotate({ id, overlap: "30m" });
    expect(await opens([made.key], home.clock.ms + 30 * minuteMs - 1)).toEqual([id]);
    expect(await opens([made.key], home.clock.ms + 30 * minuteMs)).toEqual([undefined]);
    const third = await home.operations.keys.rotate({ id, overlap: "0" });
    expect(third.previous).toBeNull();
    expect(await opens([made.key, second.key, third.key])).toEqual([undefined, undefined, id]);
  });

  test("during an overlap ends the first secret at once and keeps the second", async () => {
    const made = await home.operations.keys.create({ account });
    const { id } = made;
    const second = await home.operations.keys.rotate({ id, overlap: "30d" });
    const third = await home.operations.keys.rotate({ id, overlap: "1h" });
    expect(third.previous?.hint).toBe(second.hint);
    expect(await opens([made.key, second.key, third.key])).toEqual([undefined, id, id]);
  });

  test("of two at once each shows its own secret, and the last one wins", async () => {
    const { id } = await home.operations.keys.create({ account });
    const both = await Promise.all([
      home.operations.keys.rotate({ id, overlap: "0" }),
      home.operations.keys.rotate({ id, overlap: "0" }),
    ]);
    for (const { hint, key } of both) expect(hint).toEndWith(key.slice(-4));
    expect(await opens(both.map(({ key }) => key))).toEqual([undefined, id]);
  });

  test("is undone by nothing: revoking ends both secrets", async () => {
    const made = await home.operations.keys.create({ account });
    const { key } = await home.operations.keys.rotate({ id: made.id });
    const revoked = await home.operations.keys.revoke({ id: made.id });
    expect(revoked).toMatchObject({ status: "revoked", previous: null });
    expect(await opens([made.key, key])).toEqual([undefined, undefined]);
  });

  test("of a key that is unknown, revoked or expired is refused, as is an odd overlap", async () => {
    const { id } = await home.operations.keys.create({ account });
    for (const overlap of ["31d", "721h", "soon", "", "-1h", "1.5h", "24", "1w", "24h "])
      expect(await problemOf(home.operations.keys.rotate({ id, overlap }))).toEqual({
        code: "invalid",
        field: "overlap",
        message: `The duration must be 0 or a value such as 30m, 24h or 7d, at most 30 days, not "${overlap}".`,
      });
    for (const overlap of ["30d", "720h", "0", "90s"])
      await home.operations.keys.rotate({ id, overlap });
    await home.operations.keys.revoke({ id });
    expect((await problemOf(home.operations.keys.rotate({ id }))).code).toBe("conflict");
    expect((await problemOf(home.operations.keys.rotate({ id: "key_9" }))).code).toBe("not_found");
    const brief = await home.operations.keys.create({ account, expires: "2027-03-16" });
    home.clock.ms = Date.parse("2027-03-16T00:00:00Z");
    const refused = await problemOf(home.operations.keys.rotate({ id: brief.id }));
    expect(refused).toMatchObject({ code: "conflict" });
    expect(refused.message).toContain("has expired");
  });

  test("never lets the old secret outlive the key", async () => {
    const made = await home.operations.keys.create({ account, expires: "2027-03-16" });
    const { previous } = await home.operations.keys.rotate({ id: made.id, overlap: "30d" });
    expect(previous?.expires_at).toBe("2027-03-16T00:00:00Z");
    expect(await opens([made.key], Date.parse("2027-03-16T00:00:00Z"))).toEqual([undefined]);
  });
});

describe("an update", () => {
  test("changes the name or the models, says what it does not know, and leaves the rest", async () => {
    const made = await home.operations.keys.create({ account, name: "ci", rpm: "3" });
    const { key: _, warnings: __, ...view } = made;
    const { id } = made;
    expect(await home.operations.keys.update({ id, name: "laptop" })).toEqual({
      ...view,
      name: "laptop",
      warnings: [],
    });
    const limited = await home.operations.keys.update({ id, models: ["a", "b"] });
    expect(limited).toMatchObject({ name: "laptop", models: ["a", "b"], limits: { rpm: "3" } });
    expect(limited.warnings).toHaveLength(2);
    const early = await home.operations.keys.create({ account, models: ["svc-9"] });
    expect(early.warnings).toEqual([expect.stringContaining("svc-9")]);
    expect((await home.operations.keys.update({ id, models: null })).models).toBeNull();
    expect(await opens([made.key])).toEqual([id]);
  });

  test("of nothing, of a name that is too long, or of no live key is refused", async () => {
    const { id } = await home.operations.keys.create({ account });
    const codeOf = async (input: { name?: string; models?: readonly string[] }, of = id) =>
      (await problemOf(home.operations.keys.update({ id: of, ...input }))).code;
    expect(await codeOf({})).toBe("invalid");
    expect(await codeOf({ name: "x".repeat(101) })).toBe("invalid");
    expect(await codeOf({ models: [] })).toBe("invalid");
    expect(await codeOf({ models: [""] })).toBe("invalid");
    expect(await codeOf({ name: "x" }, "key_9")).toBe("not_found");
    await home.operations.keys.revoke({ id });
    expect(await codeOf({ name: "x" })).toBe("conflict");
  });
});

test("the last use of a key is shown as it is written, and null where there was none", async () => {
  const used = await home.operations.keys.create({ account });
  await home.operations.keys.create({ account });
  expect(used.last_used_at).toBeNull();
  await home.store.keys.noteUses(new Map([[used.id, Date.parse("2027-03-15T11:00:00Z")]]));
  const shown = await home.operations.keys.list({ account });
  expect(shown.map(({ last_used_at }) => last_used_at)).toEqual(["2027-03-15T11:00:00Z", null]);
  expect((await home.operations.accounts.show({ account })).key_list).toEqual(shown);
});

describe("a change that is made again after its disk failed", () => {
  test.each(["key limits", "account limits", "suspension"] as const)(
    "reaches the disk all the same: %s",
    async (what) => {
      const { id } = await home.operations.keys.create({ account });
      let isDiskFull = true;
      const { keys, accounts } = home.on({
        sync: () => (isDiskFull ? Promise.reject(new Error("full")) : home.store.sync()),
      });
      const change = async () => {
        if (what === "suspension") return (await accounts.suspend({ account })).status;
        const { limits } =
          what === "key limits"
            ? await keys.setLimits({ id, rpm: "7" })
            : await accounts.setLimits({ account, rpm: "7" });
        return limits.rpm;
      };
      await expect(change()).rejects.toThrow("full");
      // It is written now. That it survives a power cut is still not certain.
      await expect(change()).rejects.toThrow("full");
      isDiskFull = false;
      expect(await change()).toBe(what === "suspension" ? "suspended" : "7");
    },
  );
});
