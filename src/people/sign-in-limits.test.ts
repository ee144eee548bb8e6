import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "../store/sqlite.ts";
import { createStore, type Store } from "../store/store.ts";
import { Invites } from "./invites.ts";
import { People } from "./people.ts";

const ada = { email: "ada@example.com", password: "a long enough password" };
const guess = (at: number) => ({ email: `guess-${at}@example.com`, password: "guess" });
const from = (address: string) => ({ userAgent: "", address });
const home = from("192.0.2.1");
const clock = { nowMs: () => Date.UTC(2027, 0, 1) };
const dir = mkdtempSync(join(tmpdir(), "svc-sign-in-"));
let store: Store;
let people: People;

beforeAll(async () => {
  store = await createStore(openSqlite(join(dir, "svc.db")), "x");
  const invites = new Invites(new People(store.people, clock));
  const secret = (await invites.first())?.secret ?? "";
  await invites.accept({ ...ada, secret, name: "Ada" }, home);
});
// Nothing is counted yet.
beforeEach(() => {
  people = new People(store.people, clock);
});
afterAll(async () => {
  await store.close();
  rmSync(dir, { recursive: true });
});

async function fail(times: number, addressOf: (at: number) => string): Promise<void> {
  for (let at = 0; at < times; at++)
    await expect(people.signIn(guess(at), from(addressOf(at)))).rejects.toThrow(
      "password is wrong",
    );
}

test("however often people of one address sign in rightly, nobody there has to wait", async () => {
  for (let at = 0; at < 60; at++) expect(await people.signIn(ada, home)).toBeString();
}, 60_000);

test("signing in rightly takes no failure of others off the address", async () => {
  await fail(49, () => home.address);
  expect(await people.signIn(ada, home)).toBeString();
  await fail(1, () => home.address);
  await expect(people.signIn(ada, home)).rejects.toThrow("Too many failed tries");
}, 60_000);

test("the addresses of one network of IPv6 count as one, and another network's do not", async () => {
  await fail(50, (at) => `2001:db8:0:1::${at.toString(16)}`);
  await expect(people.signIn(ada, from("2001:db8:0:1:ffff::9"))).rejects.toThrow(
    "Too many failed tries",
  );
  expect(await people.signIn(ada, from("2001:db8:0:2::1"))).toBeString();
}, 60_000);

test("who is signed in changes their password whatever others of the address have failed", async () => {
  const person = await people.find(await people.signIn(ada, home));
  if (person === undefined) throw new Error("nobody is signed in");
  await fail(50, () => home.address);
  await people.changePassword(person, { current: ada.password, password: "a new good password" });
  await people.changePassword(person, { current: "a new good password", password: ada.password });
}, 60_000);

test("who is signed in cannot guess the password without end", async () => {
  const person = await people.find(await people.signIn(ada, home));
  if (person === undefined) throw new Error("nobody is signed in");
  const change = () => people.changePassword(person, { ...ada, current: "guess" });
  for (let at = 0; at < 10; at++) await expect(change()).rejects.toThrow("password is wrong");
  await expect(change()).rejects.toThrow("Too many failed tries");
});
