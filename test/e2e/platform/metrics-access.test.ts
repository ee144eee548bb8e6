import { afterEach, expect, test } from "bun:test";
import { type Scope, scopes } from "../../../src/people/role.ts";
import { startTestGateway, type TestGateway } from "../../setup/harness.ts";
import { joinOperator } from "../../setup/platform-home.ts";

let gateway: TestGateway;
afterEach(() => gateway.stop());

test("where they need a token, one of an operator with metrics:read is enough, and no other is", async () => {
  gateway = await startTestGateway({ environment: { SVC_METRICS: "token" } });
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
