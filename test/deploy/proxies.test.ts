/** The files of deploy/nginx, deploy/caddy and deploy/haproxy, run by Debian's packages. */

import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfiguration } from "../../src/config/load.ts";
import { chatAnswers, chatStreams } from "../fake/recordings.ts";
import { pausedAfter } from "../fake/script.ts";
import { startTestGateway, type TestGateway } from "../setup/harness.ts";
import { password } from "../setup/platform-home.ts";
import {
  choosePorts,
  clientAddress,
  committed,
  Http2Client,
  hosts,
  type Ports,
  type Proxy,
  startProxy,
} from "./proxy.ts";

setDefaultTimeout(60_000);

test("the proxies wait longer than a call may be silent", () => {
  const { maxCallMs } = loadConfiguration({}).settings;
  for (const [file, pattern] of [
    ["nginx/svc.conf", /proxy_read_timeout (\d+)s/],
    ["caddy/Caddyfile", /response_header_timeout (\d+)s/],
    ["haproxy/haproxy.cfg", /timeout server (\d+)s/],
  ] as const) {
    const [, seconds] = pattern.exec(readFileSync(join(committed, file), "utf8")) ?? [];
    expect(Number(seconds) * 1_000).toBeGreaterThan(maxCallMs);
  }
});

describe.each(["nginx", "caddy", "haproxy"] as const)("%s", (kind) => {
  let ports: Ports;
  let proxy: Proxy;
  let gateway: TestGateway;
  let models: Http2Client;
  let console: Http2Client;
  const json = { "content-type": "application/json" };
  const origin = () => `https://${hosts.platform}:${ports.https}`;

  beforeAll(async () => {
    ports = choosePorts();
    gateway = await startTestGateway({
      environment: {
        SVC_PORT: ports.gateway,
        SVC_PLATFORM_PORT: ports.platform,
        SVC_PUBLIC_URL: `https://${hosts.gateway}:${ports.https}`,
        SVC_PLATFORM_URL: origin(),
        SVC_TRUSTED_PROXIES: "127.0.0.1",
      },
    });
    proxy = await startProxy(kind, ports);
    models = new Http2Client("gateway", ports, proxy.authority);
    console = new Http2Client("platform", ports, proxy.authority);
  });
  beforeEach(() => gateway.upstream.reset());
  afterAll(async () => {
    models.close();
    console.close();
    await proxy.stop();
    await gateway.stop();
  });

  const chat = (client = models, stream = true) =>
    client.ask("/v1/chat/completions", {
      method: "POST",
      headers: { ...json, authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({
        model: "svc-3-flash",
        messages: [{ role: "user", content: "Hi" }],
        stream,
      }),
    });

  test("gateway and console are reached by their names, over HTTP/2", async () => {
    expect(await (await models.ask("/healthz")).text()).toBe('{"status":"ok"}');
    expect(models.protocol).toBe("h2");
    const page = await console.ask("/sign-in", { headers: { accept: "text/html" } });
    expect(page.headers["strict-transport-security"]).toBe("max-age=31536000");
    await page.text();
    expect(console.protocol).toBe("h2");
    gateway.upstream.replyWith(chatAnswers.plain());
    const answer = await chat(models, false);
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 200,
      text: expect.stringContaining('"chat.completion"'),
    });
  });

  test("the first part of a stream arrives before the vendor sends the second", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gateway.upstream.replyWith(
      pausedAfter({ recording: chatStreams.openai(), parts: 2, until: promise }),
    );
    const { body } = await chat();
    let text = String((await body.next()).value);
    expect(text).toContain("data: ");
    resolve();
    for await (const piece of body) text += piece;
    expect(text).toEndWith("data: [DONE]\n\n");
  });

  test("a client that is killed in the middle of a stream ends the vendor's call", async () => {
    gateway.upstream.replyWith(
      pausedAfter({ recording: chatStreams.openai(), parts: 2, until: new Promise(() => {}) }),
    );
    const arrived = gateway.upstream.nextRequest();
    const client = new Http2Client("gateway", ports, proxy.authority);
    const { body, abandon } = await chat(client);
    await body.next();
    const request = await arrived;
    abandon();
    await request.closed;
    expect(request.abortedByClient).toBe(true);
  });

  test("bodies that are too large are refused in the gateway's words, smaller ones reach it", async () => {
    const client = new Http2Client("gateway", ports, proxy.authority);
    const headers = { ...json, authorization: `Bearer ${gateway.key}` };
    const large = await client
      .ask("/v1/chat/completions", {
        method: "POST",
        headers: { ...headers, "content-length": String(100 * 1024 * 1024) },
        body: Buffer.alloc(100 * 1024 * 1024, " "),
      })
      .then(async (answer) => ({ status: answer.status, text: await answer.text() }));
    expect(large.status).toBe(413);
    expect(JSON.parse(large.text).error).toMatchObject({
      code: "request_too_large",
      type: "invalid_request_error",
    });
    client.close();
    const body = Buffer.alloc(31 * 1024 * 1024, " ");
    const fits = await models.ask("/v1/chat/completions", { method: "POST", headers, body });
    expect(fits.status).toBe(400);
    expect(fits.headers["x-request-id"]).toStartWith("req");
    await fits.text();
  });

  test("people sign in with a Secure cookie, from their own address, whatever they claim", async () => {
    const { link } = await gateway.server.operations.operators.invite({});
    expect(link).toStartWith(origin());
    const email = "ada@example.com";
    const post = (path: string, body: unknown, from: string) =>
      console.ask(path, {
        method: "POST",
        headers: { ...json, origin: from, "x-forwarded-for": "198.51.100.7" },
        body: JSON.stringify(body),
      });
    const token = link.split("#")[1];
    const invite = { token, name: "Ada", email, password };
    const elsewhere = await post("/api/invites/accept", invite, "https://elsewhere.example");
    expect(elsewhere.status).toBe(403);
    await elsewhere.text();
    const joined = await post("/api/invites/accept", invite, origin());
    expect(joined.status).toBe(200);
    await joined.text();
    const signedIn = await post("/api/session", { email, password }, origin());
    expect(signedIn.status).toBe(200);
    const { binding } = JSON.parse(await signedIn.text());
    const [cookie = ""] = [signedIn.headers["set-cookie"]].flat().map(String);
    expect(cookie).toStartWith("__Host-svc_session=");
    expect(cookie).toContain("; Secure");
    const headers = { cookie: cookie.split(";")[0] ?? "", "x-svc-session": String(binding) };
    const sessions = JSON.parse(await (await console.ask("/api/me/sessions", { headers })).text());
    const seen = sessions.map(({ address }: { readonly address: string }) => address);
    expect(new Set(seen)).toEqual(new Set([clientAddress]));
    const live = await console.ask("/api/live", { headers });
    expect(live.status).toBe(200);
    gateway.upstream.replyWith(chatAnswers.plain());
    await (await chat(models, false)).text();
    let news = "";
    while (!news.includes("data:")) news += String((await live.body.next()).value);
    expect(news).toContain("retry: ");
    live.abandon();
  });

  test("over http, people are sent to https, and keys are refused", async () => {
    const ask = (name: string, path: string) =>
      fetch(`http://127.0.0.1:${ports.http}${path}`, {
        headers: { host: name },
        redirect: "manual",
      });
    const moved = await ask(hosts.platform, "/sign-in");
    expect(moved.status).toBe(308);
    expect(moved.headers.get("location")).toStartWith(`https://${hosts.platform}`);
    const refused = await ask(hosts.gateway, "/v1/models");
    expect(refused.status).toBe(403);
    expect((await refused.json()).error.code).toBe("https_required");
  });
});
