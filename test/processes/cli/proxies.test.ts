/** Proxies and authorities: the runtime reads them from the environment when a process starts. */

import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createCertificate } from "../../fake/certificate.ts";
import { httpReply } from "../../fake/recordings.ts";
import { freePort } from "../../setup/platform-home.ts";
import { useProviderHome } from "../../setup/provider-home.ts";

const stage = useProviderHome();

const { applied, problemOf } = stage;

describe("provider test", () => {
  test("finds a proxy in the way", async () => {
    await stage.apply('providers: { far: { kind: openai, base_url: "http://far.example/v1" } }\n');
    const refusal = { "proxy-authenticate": "Basic" };
    stage.upstream.replyWith(
      httpReply({ status: 407, headers: refusal, body: [], framing: "length" }),
    );
    const environment = { HTTP_PROXY: stage.origin() };
    const { code, stdout } = await stage.provider("test far", { environment });
    expect(code).toBe(1);
    expect(stdout).toContain("The proxy requires a user name and password (407)");
  });

  test("names a proxy that is not there, whatever kind of provider goes through it", async () => {
    const proxy = `http://name:password-of-it@127.0.0.1:${freePort()}`;
    for (const [fields, name] of [
      ['kind: openai, base_url: "https://far.example/v1"', "HTTPS_PROXY"],
      ['kind: openai, base_url: "https://far.example/v1"', "https_proxy"],
      ["kind: vertex, project: a, location: global, api_key: some-key", "HTTPS_PROXY"],
    ] as const) {
      await applied(fields);
      const problem = await problemOf({ [name]: proxy });
      expect(problem.trouble).toBe("proxy_unreachable");
      expect(problem.what).toBe(`The proxy in ${name} cannot be reached: connection refused.`);
      expect(JSON.stringify(problem)).not.toContain("password-of-it");
    }
  });

  test("sends nobody to check the address where it is the vendor's own", async () => {
    // The call hangs; the list of models, which is asked for beside it, fails at once.
    stage.upstream.replyWith(httpReply({ status: 502, body: [], framing: "length" }));
    const vendor = 'vendor: groq, api_key: "${P_KEY}"';
    for (const [fields, words] of [
      [vendor, "the vendor's status page"],
      [`${vendor}, base_url: "https://far.example/v1"`, "check base_url"],
    ] as const) {
      await applied(fields, "timeouts: { first_byte: 0.5 }, ");
      // Nothing leaves this machine: the proxy takes the call and is silent.
      stage.upstream.replyOnce([{ hang: true }]);
      const { trouble, advice } = await problemOf({
        P_KEY: "gsk-a-key",
        HTTPS_PROXY: stage.origin(),
      });
      expect([trouble, advice.includes(words)]).toEqual(["timeout", true]);
      expect(advice).toContain("the proxy in HTTPS_PROXY");
    }
  });

  test("knows a certificate that is for another name, and takes a good one of a named authority", async () => {
    const authority = createCertificate({ name: "Our Authority", isAuthority: true });
    const file = join(dirname(stage.home.configPath), "authority.pem");
    writeFileSync(file, authority.cert);
    const environment = { NODE_EXTRA_CA_CERTS: file };
    for (const [name, words] of [
      ["other.example", "is for another host name"],
      ["127.0.0.1", "0 models listed"],
    ] as const) {
      const { cert, key } = createCertificate({ name, issuer: authority });
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        tls: { cert, key },
        fetch: () => Response.json({ data: [] }),
      });
      const text = `providers: { tls: { kind: openai, base_url: "https://127.0.0.1:${server.port}/v1", allow_private: true } }\n`;
      await stage.apply(text);
      expect((await stage.provider("test tls", { environment })).stdout).toContain(words);
      await server.stop(true);
    }
  });
});

test("provider add sends nobody to a file or a base_url that there is not", async () => {
  const line = "groq --all-models";
  // Nothing is asked outside this machine: the proxy is a closed port of it.
  const environment = { GROQ_API_KEY: "k-123", HTTPS_PROXY: "http://127.0.0.1:1" };
  const { code, stderr } = await stage.provider(`add ${line}`, { environment });
  expect(code).toBe(1);
  expect(stderr).not.toMatch(/svc\.yaml|svc apply|base_url/);
  expect(stderr).toContain("Nothing was changed");
});
