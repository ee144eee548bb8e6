import { afterEach, expect, test } from "bun:test";
import { chatJson } from "../../fake/openai/chat-json.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { joinOperator } from "../../setup/platform-home.ts";

const provider = `{ kind: openai, base_url: "UPSTREAM", allow_private: true`;
const model = (name: string) =>
  `{ endpoint: chat, price: { input: 1, output: 1 }, max_output_tokens: 100, routes: [{ provider: ${name}, model: x }] }`;
const manifest = `
providers:
  usual: ${provider} }
  wary: ${provider}, reuse: false }
models:
  usual: ${model("usual")}
  wary: ${model("wary")}
`;

const open: TestGateway[] = [];
afterEach(() => Promise.all(open.splice(0).map((gateway) => gateway.stop())));

async function start(isInStore: boolean): Promise<TestGateway> {
  const gateway = await startTestGateway({ manifest, isInStore });
  open.push(gateway);
  return gateway;
}

/** More calls than fit into the time for which a connection rests. */
const enough = 100;

/** How many calls came on a connection that had served another; ends at the first such call. */
async function reused(gateway: TestGateway, model: string): Promise<number> {
  gateway.upstream.reset();
  gateway.upstream.replyWith(chatJson());
  const messages = [{ role: "user", content: "hello" }];
  const { requests } = gateway.upstream;
  const count = () => requests.length - new Set(requests.map((one) => one.connection)).size;
  for (let round = 0; round < enough && count() === 0; round++) {
    const { status } = await gateway.call("/chat/completions", { model, messages });
    expect(status).toBe(200);
  }
  return count();
}

test("a connection serves further requests, unless svc.yaml says reuse: false", async () => {
  const gateway = await start(false);
  expect(await reused(gateway, "usual")).toBe(1);
  expect(await reused(gateway, "wary")).toBe(0);
});

test("an operator turns reuse off and on over HTTP", async () => {
  const gateway = await start(true);
  const operator = await joinOperator(gateway);
  const change = (name: string, reuse: string | null) =>
    operator.ask("PATCH /api/providers/:name", {
      params: { name },
      body: { options: { reuse }, skip_test: true },
    });
  expect(await change("usual", "false")).toMatchObject({ status: 200 });
  expect(await reused(gateway, "usual")).toBe(0);
  expect((await change("wary", null)).status).toBe(200);
  expect(await reused(gateway, "wary")).toBe(1);
  const { status, body } = await change("wary", "no");
  expect([status, body.error.field]).toEqual([400, "options.reuse"]);
});
