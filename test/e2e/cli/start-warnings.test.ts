/** What a start warns of: once, in the log, with what to do. */

import { expect, test } from "bun:test";
import type { ChildServer } from "../../setup/child.ts";
import { useHome } from "../../setup/use-home.ts";

const home = useHome();

interface Line {
  readonly level: string;
  readonly message: string;
  readonly listeners?: string;
  readonly settings?: string;
  readonly accounts?: string;
}

const warnings = (server: ChildServer) =>
  server
    .stderr()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line): Line => JSON.parse(line))
    .filter(({ level }) => level === "warn");

const inTheClear = async (environment: Readonly<Record<string, string>>) =>
  warnings(await home.serve(environment)).filter(({ message }) => message.includes("unencrypted"));

test("a listener that others reach without TLS is reported once, with the remedy", async () => {
  const found = await inTheClear({ SVC_PLATFORM_HOST: "0.0.0.0" });
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({
    message: expect.stringContaining("set SVC_TLS_CERT and SVC_TLS_KEY, or put a proxy with TLS"),
    listeners: "platform on 0.0.0.0",
    settings: "SVC_PLATFORM_URL",
  });
});

for (const [what, environment] of [
  ["on loopback", {}],
  [
    "behind a proxy that is trusted",
    { SVC_PLATFORM_HOST: "0.0.0.0", SVC_TRUSTED_PROXIES: "10.0.0.1" },
  ],
  [
    "with a public https address",
    { SVC_PLATFORM_HOST: "0.0.0.0", SVC_PLATFORM_URL: "https://console.example" },
  ],
] as const)
  test(`a listener ${what} is not reported`, async () => {
    expect(await inTheClear(environment)).toEqual([]);
  });

test("accounts of SVC_OIDC_ROLES that do not exist are named, and none that the start creates", async () => {
  const server = await home.serve({
    SVC_OIDC_ISSUER: "https://login.example",
    SVC_OIDC_CLIENT_ID: "svc-gateway",
    SVC_OIDC_ROLES: "ml=research:developer; finance=research:viewer; all=default:viewer",
    SVC_PLATFORM_URL: "https://console.example",
  });
  const found = warnings(server).filter(({ message }) => message.includes("SVC_OIDC_ROLES"));
  expect(found).toMatchObject([{ accounts: "research" }]);
});
