import { expect, test } from "bun:test";
import { IdentityProvider } from "./provider.ts";

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
      for (let left = 3; left > 0; left--)
        await expect(provider.begin("http://127.0.0.1/sign-in/callback")).rejects.toThrow(
          "Example Corp does not respond correctly.",
        );
      expect(asked).toBe(1);
    } finally {
      await server.stop(true);
    }
  });
