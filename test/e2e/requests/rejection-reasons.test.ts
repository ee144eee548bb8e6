/**
 * Why a model could not be called: callers and members get one answer, operators the reason. And
 * what a key shows of its rejected calls.
 */

import { beforeAll, expect, test } from "bun:test";
import { clockAt, hello, openPayer } from "../../setup/money-home.ts";
import { joinMember, joinOperator, type Visitor } from "../../setup/platform-home.ts";
import { useTestGateway } from "../../setup/use-gateway.ts";

const clock = clockAt("2027-03-15T12:00:30Z");
const gateway = useTestGateway({ clock });
let operator: Visitor;
beforeAll(async () => {
  operator = await joinOperator(gateway);
});

const idOf = (reply: Response) => reply.headers.get("x-request-id") ?? "";

test.each([
  ["no-such-model", "unknown_model"],
  ["unpriced", "needs_price"],
  ["unrouted", "no_route"],
  ["vendor/with-slash", "not_allowed"],
  ["svc-2-flash", "retired"],
])("a call of %s was rejected for %s, which the operator alone is shown", async (model, reason) => {
  const payer = await openPayer(gateway);
  if (reason === "not_allowed")
    await gateway.server.operations.keys.update({ id: payer.keyId, models: [hello.model] });
  if (reason === "retired") {
    const replacement = hello.model;
    await gateway.server.operations.models.deprecate({
      id: model,
      retires: "2999-01-01",
      replacement,
    });
    await gateway.server.operations.models.retire({ id: model });
  }
  const reply = await payer.chat({ model });
  const viewer = await joinMember(gateway, operator, { account: payer.id, role: "viewer" });
  const all = await operator.ask("GET /api/rejections", { query: { account: payer.id } });
  expect(all.body.rejections).toMatchObject([{ id: idOf(reply), model, reason }]);
  const params = { account: payer.id };
  const { body } = await viewer.ask("GET /api/accounts/:account/rejections", { params });
  expect(body.rejections).toHaveLength(1);
  expect(Object.keys(body.rejections[0])).not.toContain("reason");
  const csv = await viewer.ask("GET /api/accounts/:account/rejections.csv", { params });
  expect(csv.body).not.toContain("reason");
});

test("a key shows its last hour of refusals and is not unused", async () => {
  const payer = await openPayer(gateway, { credit: 0n });
  for (let at = 0; at < 12; at++) await payer.chat();
  await payer.chat({ temperature: 9 });
  const find = async () =>
    (await operator.ask("GET /api/accounts/:account/keys", { params: { account: payer.id } }))
      .body[0];
  expect(await find()).toMatchObject({
    last_used_at: null,
    last_rejected_at: "2027-03-15T12:00:30Z",
    rejected_last_hour: [
      { status: 402, code: "insufficient_quota", count: 12 },
      { status: 400, code: "invalid_request", count: 1 },
    ],
  });
  const ofAll = await operator.ask("GET /api/keys", { query: { find: payer.id } });
  const details = await operator.ask("GET /api/accounts/:account/details", {
    params: { account: payer.id },
  });
  for (const [key] of [ofAll.body.keys, details.body.key_list])
    expect(key).toMatchObject({ last_used_at: null, last_rejected_at: "2027-03-15T12:00:30Z" });
  clock.set("2027-03-15T13:02:00Z");
  expect(await find()).toMatchObject({
    last_rejected_at: "2027-03-15T12:00:30Z",
    rejected_last_hour: [],
  });
  clock.set("2027-03-15T12:00:30Z");
});
