/** Run by http2.test.ts. */
import { CallSignal } from "../../src/call/signal.ts";
import { Dialer } from "../../src/providers/kit/dial.ts";
import { baseHeaders, send } from "../../src/providers/kit/http.ts";

const [port, host] = process.argv.slice(2);
const dialer = new Dialer({
  provider: "acme",
  allowPrivate: true,
  lookup: async () => ["127.0.0.1"],
});
const say = (line: string) => process.stdout.write(`${line}\n`);

function call(path: string, { signal = new CallSignal(), name = host } = {}) {
  const pin = dialer.pin(`https://${name}:${port}/v1`);
  const headers = baseHeaders(pin);
  return send({ provider: "acme", pin, path, headers, body: '{"a":1}', signal });
}
const text = (path: string, name = host) =>
  call(path, { name }).then(
    async (reply) => (await reply.whole(1_000)).text,
    (error: Error & { code?: string; detail?: string }) => `${error.code}: ${error.detail}`,
  );

say(await text("/v1/echo"));
say(await text("/v1/echo"));
say(await text("/v1/echo", "other.example"));
if (host === "two.example") {
  say(await text("/v1/busy"));
  const leaving = new CallSignal();
  const [left, staying] = [await call("/v1/stream", { signal: leaving }), await call("/v1/stream")];
  for (const stream of [left, staying]) say((await stream.next())?.text ?? "nothing");
  leaving.abort(new Error("left"));
  await left.next().catch(() => say("broken off"));
  // The server has seen the end of the one before it answers this, and ends the other after it.
  say(await text("/v1/left"));
  say((await staying.next())?.text ?? "nothing");
}
