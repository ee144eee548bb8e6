import { beforeEach, expect, test } from "bun:test";
import { joinMember, machine, type Visitor } from "../../../test/setup/platform-home.ts";
import { usePlatform } from "../../../test/setup/use-platform.ts";

const startMs = Date.UTC(2027, 0, 1);
let nowMs = startMs;
const { gateway, operator } = usePlatform({ clock: { nowMs: () => nowMs } });
beforeEach(() => {
  nowMs = startMs;
});

interface TokenView {
  readonly id: string;
  readonly status: string;
}

test("an operator's token works until it expires, and no longer", async () => {
  const { body } = await operator.ask("POST /api/tokens", {
    body: { name: "short", scopes: ["usage:read"], expires: "2027-01-01T01:00:00Z" },
  });
  const caller = machine(gateway.platformUrl, body.token);
  const status = async () =>
    (await operator.ask("GET /api/tokens")).body.find(({ id }: TokenView) => id === body.id).status;
  nowMs = Date.UTC(2027, 0, 1, 1) - 1;
  expect([(await caller.ask("GET /api/usage")).status, await status()]).toEqual([200, "active"]);
  nowMs++;
  expect([(await caller.ask("GET /api/usage")).status, await status()]).toEqual([401, "expired"]);
});

test("an account's token works until it expires, and no longer", async () => {
  const owner = await joinMember(gateway, operator, { role: "owner" });
  const { body } = await owner.ask("POST /api/accounts/:account/tokens", {
    body: { name: "short", role: "viewer", scopes: ["keys:read"], expires: "2027-01-02" },
  });
  const caller = machine(gateway.platformUrl, body.token);
  const read = async () => (await caller.ask("GET /api/accounts/:account/keys")).status;
  expect(await read()).toBe(200);
  nowMs = Date.UTC(2027, 0, 2);
  expect(await read()).toBe(401);
});

test("a token is revoked by its own account, and by no other", async () => {
  const { id: other } = await gateway.server.operations.accounts.create({ name: "other" });
  const stranger = await joinMember(gateway, operator, { account: other, role: "owner" });
  const { body } = await operator.ask("POST /api/accounts/:account/tokens", {
    body: { name: "kept", role: "viewer", scopes: ["keys:read"] },
  });
  const revoke = (who: Visitor, account: string) =>
    who.ask("DELETE /api/accounts/:account/tokens/:id", { params: { account, id: body.id } });
  const caller = machine(gateway.platformUrl, body.token);
  const isWorking = async () =>
    (await caller.ask("GET /api/accounts/:account/keys")).status === 200;
  expect([(await revoke(stranger, other)).status, await isWorking()]).toEqual([404, true]);
  const { status } = await revoke(operator, gateway.account);
  expect([status, await isWorking()]).toEqual([200, false]);
});
