/** Run by tls.test.ts. */
import { Dialer } from "../../src/providers/kit/dial.ts";
import { baseHeaders, send } from "../../src/providers/kit/http.ts";

const [port, times] = process.argv.slice(2).map(Number);
const dialer = new Dialer({
  provider: "acme",
  allowPrivate: true,
  lookup: async () => ["127.0.0.1"],
});

const rounds = Array.from({ length: times ?? 0 }, () => ["one.example", "two.example"]);
for (const name of [...rounds.flat(), "other.example"]) {
  const pin = dialer.pin(`https://${name}:${port}/v1`);
  const { signal } = new AbortController();
  const headers = baseHeaders(pin);
  const said = await send({ provider: "acme", pin, path: "/v1/models", headers, signal }).then(
    async (reply) => (await reply.whole(1_000)).text,
    (error: Error & { detail?: string }) => `refused: ${error.detail}`,
  );
  process.stdout.write(`${name} ${said}\n`);
}
