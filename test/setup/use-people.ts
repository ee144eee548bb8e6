import { afterAll, beforeAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../src/base/clock.ts";
import { Invites } from "../../src/people/invites.ts";
import { Passwords } from "../../src/people/passwords.ts";
import { People, type Visitor } from "../../src/people/people.ts";
import { openSqlite } from "../../src/store/sqlite/sqlite.ts";
import { createStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { auditOf } from "../store/audit-sample.ts";
import { cheapPasswords } from "./cheap-passwords.ts";
import { later } from "./use-platform.ts";

interface Login {
  readonly email: string;
  readonly password: string;
}

/** A store with one operator, for all tests of a file. */
export function usePeople(first: Login, clock: Pick<Clock, "nowMs">) {
  const dir = mkdtempSync(join(tmpdir(), "svc-people-"));
  const held: { store?: Store } = {};
  beforeAll(async () => {
    const store = await createStore(openSqlite(join(dir, "svc.db")), "x");
    held.store = store;
    const passwords = new Passwords(cheapPasswords);
    const invites = new Invites(new People(store.people, clock, { passwords }));
    const secret = (await invites.first(() => auditOf()))?.secret ?? "";
    const visitor = { userAgent: "", address: "192.0.2.1" };
    const joining = { ...first, secret, name: "Ada", visitor, isBound: false };
    await invites.accept(joining, () => auditOf());
  });
  afterAll(async () => {
    await held.store?.close();
    rmSync(dir, { recursive: true });
  });
  const store = later<Store>(() => held.store, "store");
  return {
    store,
    /** As the platform does it; gives the session's secret. */
    async signInAs(people: People, given: Login, visitor: Visitor): Promise<string> {
      const { id: userId } = await people.authenticate(given, visitor);
      const { secret, session } = people.newSession({ userId, visitor, isBound: true });
      await store.people.addSession(session, auditOf());
      return secret;
    },
  };
}
