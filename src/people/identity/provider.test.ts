import { expect, test } from "bun:test";
import { IdentityProvider, usable } from "./provider.ts";

const clock = { nowMs: () => Date.UTC(2027, 0, 1) };
const options = {
  clientId: "svc",
  clientSecret: "a client secret",
  clientAuth: "basic",
  name: "Example Corp",
  scopes: "openid",
  groupsClaim: "groups",
  timeoutS: 0.2,
} as const;

/** Answers to no one, or begins an answer and does not end it. */
const servers = {
  "never answers": () => new Promise<Response>(() => {}),
  "never ends its answer": () =>
    new Response(new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from("{")) }), {
      headers: { "content-type": "application/json" },
    }),
} as const;

for (const [what, reply] of Object.entries(servers))
  test(`a provider that ${what} is given up, and is not asked by each visitor`, async () => {
    let asked = 0;
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch() {
        asked++;
        return reply();
      },
    });
    try {
      const issuer = `http://127.0.0.1:${server.port}`;
      const provider = new IdentityProvider({ ...options, issuer }, clock);
      for (let left = 3; left > 0; left--) {
        const failure = provider.begin("http://127.0.0.1/sign-in/callback");
        await expect(failure).rejects.toThrow("Example Corp does not respond correctly.");
        await expect(failure).rejects.toHaveProperty("detail", "it did not respond in time");
      }
      expect(asked).toBe(1);
    } finally {
      await server.stop(true);
    }
  });

test.each<[issuer: string, keys: string, isUsable: boolean]>([
  ["https://id.example", "https://keys.example/jwks", true],
  ["https://id.example", "http://127.0.0.1/jwks", false],
  ["https://id.example", "file:///etc/jwks.json", false],
  ["https://id.example", "data:application/json,{}", false],
  ["https://id.example", "/jwks", false],
  ["http://127.0.0.1:9000", "http://127.0.0.1:9000/jwks", true],
  ["http://127.0.0.1:9000", "file:///etc/jwks.json", false],
])("for the issuer %s, keys at %s: %p", (issuer, jwks_uri, isUsable) => {
  const found = { authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
  const read = () => usable({ issuer, jwks_uri, ...found }, issuer);
  if (isUsable) expect(read().jwks_uri).toBe(jwks_uri);
  else expect(read).toThrow(`jwks_uri in the document at ${issuer} is not an address with https`);
});

test.each([
  ["userinfo_endpoint", "file:///etc/hostname"],
  ["end_session_endpoint", "javascript:alert(1)"],
])("an address that may be absent is one with https, too: %s", (name, address) => {
  const issuer = "https://id.example";
  const [authorization_endpoint, token_endpoint, jwks_uri] = ["auth", "token", "jwks"].map(
    (path) => `${issuer}/${path}`,
  );
  const found = { issuer, authorization_endpoint, token_endpoint, jwks_uri } as const;
  expect(() => usable({ ...found, [name]: address } as never, issuer)).toThrow(
    `${name} in the document at ${issuer} is not an address with https`,
  );
});
