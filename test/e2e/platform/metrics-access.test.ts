/** Who may read /metrics, and by which name of the server. */

import { afterEach, describe, expect, test } from "bun:test";
import { type Scope, scopes } from "../../../src/people/role.ts";
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../../setup/harness.ts";
import { freePort, joinOperator } from "../../setup/platform-home.ts";

let gateway: TestGateway;
afterEach(() => gateway.stop());

async function start(environment: TestGatewayOptions["environment"] = {}): Promise<void> {
  gateway = await startTestGateway({ environment });
}

test("where they need a token, one of an operator with metrics:read is enough, and no other is", async () => {
  await start({ SVC_METRICS: "token" });
  const operator = await joinOperator(gateway);
  const tokenOf = async (scopes: readonly Scope[], account?: string): Promise<string> => {
    const { body } = await operator.ask(
      account === undefined ? "POST /api/tokens" : "POST /api/accounts/:account/tokens",
      {
        params: { account: account ?? "" },
        body: { name: "scraper", scopes, ...(account === undefined ? {} : { role: "owner" }) },
      },
    );
    return body.token;
  };
  const read = async (headers: Readonly<Record<string, string>>) => {
    const response = await fetch(`${gateway.platformUrl}/metrics`, { headers });
    return [response.status, (await response.text()).includes("svc_calls_under_way")];
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const told = [200, true];
  const refused = [401, false];
  expect(await read(bearer(await tokenOf(["metrics:read"])))).toEqual(told);
  expect(await read(bearer(await tokenOf(["metrics:write"])))).toEqual(told);
  const others = scopes.filter((scope) => !scope.startsWith("metrics:"));
  expect(await read(bearer(await tokenOf(others)))).toEqual(refused);
  expect(await read(bearer(await tokenOf(scopes, gateway.account)))).toEqual(refused);
  expect(await read(bearer(gateway.key))).toEqual(refused);
  expect(await read(operator.headers)).toEqual(refused);
});

describe("where they are open", () => {
  const ask = (url: string, host: string) => fetch(`${url}/metrics`, { headers: { host } });

  test("the public name does not read them, which a proxy answers for anybody", async () => {
    const port = freePort();
    await start({
      SVC_PLATFORM_URL: "https://console.example.com",
      SVC_PLATFORM_PORT: port,
      SVC_METRICS: "open",
    });
    const url = `http://127.0.0.1:${port}`;
    expect((await ask(url, `127.0.0.1:${port}`)).status).toBe(200);
    const reply = await ask(url, "console.example.com");
    expect(reply.status).toBe(403);
    expect((await reply.json()).error.message).toContain("SVC_METRICS");
  });
});
