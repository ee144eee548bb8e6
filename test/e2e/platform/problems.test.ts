import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { joinOperator, type Visitor } from "../../setup/platform-home.ts";

let gateway: TestGateway;
let operator: Visitor;
beforeAll(async () => {
  gateway = await startTestGateway({ isInStore: true });
  operator = await joinOperator(gateway);
});
afterAll(() => gateway.stop());

/** A name that looks like a flag in the middle. */
const model = "org--llama-3";

test.each([
  ["POST /api/prices", { body: { model, price: { input: "1", output: "1" } } }],
  ["GET /api/models/:model/callers", { params: { model } }],
  ["POST /api/catalog/:model/retire", { params: { model }, body: {} }],
] as const)("an unknown model keeps its name: %s", async (route, options) => {
  const { status, body } = await operator.ask(route, options);
  expect([status, body.error]).toEqual([
    404,
    { code: "not_found", message: `Unknown model "${model}".` },
  ]);
});

test("a field is the one that is wrong, whatever the message quotes", async () => {
  const { status, body } = await operator.ask("PUT /api/catalog/:model/routes", {
    params: { model: "svc-3-flash" },
    body: { routes: [{ provider: "org--llama-3", model: "m" }] },
  });
  expect([status, body.error]).toEqual([
    400,
    {
      code: "invalid",
      message: 'routes.0.provider refers to "org--llama-3", which does not exist.',
      field: "routes.0.provider",
    },
  ]);
});

test.each([
  ["POST /api/prices", { model: "svc-3-flash", price: { input: "x" } }, "input"],
  ["POST /api/prices", { model: "svc-3-flash", price: { input: "1" } }, "output"],
  [
    "POST /api/prices",
    { model: "svc-3-flash", price: { input: "1", output: "1" }, from: "2020-01-01" },
    "from",
  ],
  ["POST /api/prices/import", { markup: "--x" }, "markup"],
  ["POST /api/accounts", { name: "--x" }, "name"],
  ["POST /api/accounts", { name: "fine", credit_usd: "--1" }, "credit_usd"],
  ["POST /api/accounts", { name: "fine", rpm: "--tpm" }, "rpm"],
] as const)("%s with %o names the field", async (route, body, field) => {
  const { status, body: reply } = await operator.ask(route, { body });
  expect([status, reply.error.field]).toEqual([400, field]);
});
