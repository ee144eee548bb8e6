/** What `svc doctor` asks of other servers. */

import { describe, expect, test } from "bun:test";
import { checkGroups } from "../../../src/cli/doctor-wiring.ts";
import { lyingClient, startLyingProvider } from "../../fake/lying-provider.ts";
import type { Environment } from "../../setup/child.ts";
import { startCollector } from "../../setup/collector.ts";
import { examineHome, wrong } from "../../setup/doctor.ts";
import { freePort } from "../../setup/platform-home.ts";
import { useHome } from "../../setup/use-home.ts";

const home = useHome({ isBare: true });

const examine = (environment: Environment = {}) => examineHome(home, environment);

describe("svc doctor and a collector", () => {
  test("posts nothing but an empty request of each signal, and names what is wrong and what to do", async () => {
    const collector = startCollector();
    const { host } = new URL(collector.url);
    const environment = {
      SVC_OTLP_URL: collector.url,
      SVC_OTLP_HEADERS: "authorization=Bearer%20hunter2",
    };
    const telemetry = async () =>
      (await examine(environment)).filter(({ group }) => group === "telemetry");
    try {
      expect(await telemetry()).toEqual([
        {
          group: "telemetry",
          state: "ok",
          finding: `The collector ${host} accepts traces, metrics, logs (no data was sent)`,
        },
      ]);
      // Sent at once, they arrive in any order.
      expect(collector.requests.map(({ body }) => body).toSorted()).toEqual([
        '{"resourceLogs":[]}',
        '{"resourceMetrics":[]}',
        '{"resourceSpans":[]}',
      ]);
      collector.answer = ({ path }) =>
        new Response(null, { status: path === "/v1/logs" ? 404 : 401 });
      const refused = await telemetry();
      expect(refused.map(({ state, finding }) => `${state}: ${finding}`)).toEqual([
        `problem: traces, metrics do not reach ${host}: the collector returned 401.`,
        `problem: logs do not reach ${host}: the collector returned 404.`,
      ]);
      expect(refused.map(({ advice }) => advice)).toEqual([
        expect.stringContaining("SVC_OTLP_HEADERS"),
        expect.stringContaining("SVC_OTLP_SIGNALS"),
      ]);
      collector.answer = () => new Response(null, { status: 500 });
      expect((await telemetry())[0]?.advice).toContain("See the log of the collector");
      expect(JSON.stringify(refused)).not.toContain("hunter2");
    } finally {
      await collector.stop();
    }
    const [dead] = await telemetry();
    expect(dead?.finding).toContain(`do not reach ${host}: the collector cannot be reached`);
    expect(dead?.advice).toContain("Start the collector, or correct host and port of SVC_OTLP_URL");
  });
});

describe("svc doctor with an identity provider", () => {
  test("asks it, and shows the redirect URI", async () => {
    const provider = await startLyingProvider(freePort());
    const environment = {
      SVC_OIDC_ISSUER: provider.issuer,
      SVC_OIDC_CLIENT_ID: lyingClient,
      SVC_OIDC_ROLES: "team=nowhere:viewer",
      SVC_PLATFORM_URL: "https://console.example",
    };
    try {
      const checks = await examine(environment);
      const found = checks
        .filter(({ group }) => group === "sign-in")
        .map(({ state, finding }) => `${state}: ${finding}`);
      expect(found).toEqual([
        `ok: single sign-on responds (${provider.issuer})`,
        "ok: Its redirect URI must be https://console.example/sign-in/callback",
      ]);
      provider.lie = { discovery: { backchannel_logout_supported: true } };
      expect(JSON.stringify(await examine(environment))).toContain(
        "It can report sign-outs: its back-channel logout URI is https://console.example/api/session/oidc/back-channel",
      );
      provider.lie = { discovery: { issuer: "https://evil.example" } };
      expect(wrong(await examine(environment), "sign-in").join()).toContain(
        "issuer does not match the expected issuer",
      );
      await home.svc("account create somewhere");
      provider.lie = {};
      expect(wrong(await examine(environment), "sign-in")).toEqual([
        "problem: SVC_OIDC_ROLES names accounts that do not exist: nowhere.",
      ]);
    } finally {
      await provider.stop();
    }
  });
});

describe("svc doctor and servers that do not respond", () => {
  test("asks all of them at once, and shows what it found in the usual order", async () => {
    const names = ["gateway", "platform", "mail", "collector", "identity", "provider"];
    const asked = new Set<string>();
    const { promise: allAsked, resolve } = Promise.withResolvers<void>();
    // Nobody gets an answer until all are asked.
    const hold = async (name: string) => {
      asked.add(name);
      if (asked.size === names.length) resolve();
      await allAsked;
    };
    const servers = names.map((name) =>
      Bun.listen({
        hostname: "127.0.0.1",
        port: 0,
        socket: { open: (socket) => void hold(name).then(() => socket.end()), data() {} },
      }),
    );
    const [gateway, platform, mail, collector, identity, provider] = servers.map(
      ({ port }) => `127.0.0.1:${port}`,
    );
    try {
      home.writeConfig(
        `providers:\n  mine: { kind: openai, base_url: "http://${provider}/v1", api_key: sk-x-0123456789, allow_private: true }\n`,
      );
      expect((await home.svc("apply")).stderr).toBe("");
      const checks = await examine({
        SVC_PUBLIC_URL: `https://${gateway}`,
        SVC_PLATFORM_URL: `https://${platform}`,
        SVC_SMTP_URL: `smtp://${mail}`,
        SVC_MAIL_FROM: "no-reply@example.com",
        SVC_OTLP_URL: `http://${collector}`,
        SVC_OIDC_ISSUER: `http://${identity}`,
        SVC_OIDC_CLIENT_ID: lyingClient,
      });
      expect([...asked].toSorted()).toEqual(names.toSorted());
      expect(JSON.stringify(checks)).not.toMatch(/in time|did not respond|timed out/);
      const order = [...new Set(checks.map(({ group }) => group))];
      expect(order).toEqual([
        "configuration",
        ...checkGroups.filter((group) => group !== "configuration"),
      ]);
      expect(wrong(checks, "certificates")).toEqual([
        `warning: Nothing responds with TLS at https://${gateway} from this machine.`,
        `warning: Nothing responds with TLS at https://${platform} from this machine.`,
      ]);
    } finally {
      resolve();
      for (const server of servers) server.stop(true);
    }
  });
});
