import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { auditOf } from "../../../../test/store/audit-sample.ts";
import type { Invite, Session } from "../../../people/store.ts";
import { openSqlite } from "../../sqlite/sqlite.ts";
import { createStore } from "../../sqlite/store.ts";
import type { Store } from "../../store.ts";

const dir = mkdtempSync(join(tmpdir(), "svc-people-store-"));
let store: Store;
beforeAll(async () => {
  store = await createStore(openSqlite(join(dir, "svc.db")), "x");
});
afterAll(async () => {
  await store.close();
  rmSync(dir, { recursive: true });
});

const inviteOf = (id: string, expiresAtMs: number): Invite => ({
  id,
  hash: `hash of ${id}`,
  kind: "operator",
  createdBy: "a test",
  createdById: "",
  createdAtMs: 1,
  expiresAtMs,
});
const sessionOf = (id: string, expiresAtMs: number): Session => ({
  id,
  userId: "user_1",
  hash: `hash of ${id}`,
  createdAtMs: 1,
  lastSeenMs: 1,
  expiresAtMs,
  userAgent: "",
  address: "",
});

test("sessions and invitations that are past their time are erased, and no others", async () => {
  const { people } = store;
  await people.accept(
    {
      inviteId: await add(inviteOf("invite_0", 1)),
      addUser: {
        id: "user_1",
        email: "ada@example.com",
        name: "Ada",
        passwordHash: "",
        isOperator: false,
        createdAtMs: 1,
      },
      addSession: sessionOf("session_0", 1),
    },
    auditOf(),
  );
  for (const [id, expiresAtMs] of [
    ["1", 99],
    ["2", 100],
    ["3", 101],
  ] as const) {
    await add(inviteOf(`invite_${id}`, expiresAtMs));
    await people.addSession(sessionOf(`session_${id}`, expiresAtMs), auditOf());
  }
  await people.eraseExpired(100);
  expect((await people.allInvites()).map(({ id }) => id)).toEqual(["invite_3"]);
  expect((await people.sessions("user_1")).map(({ id }) => id)).toEqual(["session_3"]);
});

async function add(invite: Invite): Promise<string> {
  await store.people.addInvite(invite, auditOf());
  return invite.id;
}
