import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { ApiError } from "../../base/errors.ts";
import { Dialer, type Lookup } from "./dial.ts";
import { baseHeaders, createFetch, send } from "./http.ts";
import { readReply } from "./reply.ts";

let served: { host: string | null; from: string }[] = [];
let vendor: ReturnType<typeof Bun.serve>;

beforeAll(() => {
  vendor = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, server) => {
      served.push({
        host: request.headers.get("host"),
        from: server.requestIP(request)?.address ?? "",
      });
      return Response.json({ ok: true });
    },
  });
});
afterAll(() => vendor.stop(true));

const dialerTo = (lookup: Lookup, allowPrivate = true) =>
  new Dialer({ provider: "acme", allowPrivate, lookup });

function ask(dialer: Dialer, host: string) {
  const pin = dialer.pin(`http://${host}:${vendor.port}/v1`);
  const { signal } = new AbortController();
  return send({ provider: "acme", pin, path: "/v1/models", headers: baseHeaders(pin), signal });
}

const failureOf = (work: Promise<unknown>): Promise<ApiError> =>
  work.then(
    () => {
      throw new Error("it was let through");
    },
    (error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    },
  );

test("a name is called at the address that was looked at, and still by its name", async () => {
  served = [];
  const response = await ask(
    dialerTo(async () => ["127.0.0.1"]),
    "api.acme.example",
  );
  expect(await readReply(response)).toEqual({ ok: true });
  expect(served).toEqual([{ host: `api.acme.example:${vendor.port}`, from: "127.0.0.1" }]);
});

test("a name that leads to a private or forbidden address is refused, in every form of it", async () => {
  served = [];
  const forbidden = [
    "127.0.0.1",
    "10.0.0.7",
    "169.254.169.254",
    "100.100.100.200",
    "::1",
    "fe80::1%eth0",
    "fd00:ec2::254",
    "::ffff:127.0.0.1",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2001:0:1::",
    "::127.0.0.1",
  ];
  for (const address of forbidden) {
    const error = await failureOf(
      ask(
        dialerTo(async () => ["93.184.216.34", address], false),
        "api.acme.example",
      ),
    );
    expect([address, error.code, error.upstream?.reason]).toEqual([
      address,
      "upstream_unavailable",
      "unreachable",
    ]);
    expect(error.detail).toContain(address);
    expect(error.message).not.toContain(address);
  }
  expect(served).toEqual([]);
});

test("the word of the operator lets private addresses through, and never link-local ones", async () => {
  for (const address of ["169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "fd00:ec2::254"]) {
    const error = await failureOf(
      ask(
        dialerTo(async () => [address]),
        "api.acme.example",
      ),
    );
    expect([address, error.upstream?.reason]).toEqual([address, "unreachable"]);
  }
});

test("a name that turns private later is not followed there", async () => {
  let addresses = ["127.0.0.1"];
  let allowed = true;
  const dialer = new Dialer({
    provider: "acme",
    allowPrivate: true,
    lookup: async () => (allowed ? addresses : ["169.254.169.254"]),
  });
  await readReply(await ask(dialer, "api.acme.example"));
  allowed = false;
  addresses = [];
  const pin = dialer.pin(`http://api.acme.example:${vendor.port}/v1`);
  const laterMs = Date.now() + 60_000;
  // The stale address is used once more while the new one is looked up beside; that one is refused.
  expect(await pin.dial(laterMs)).toMatchObject({
    origin: `http://127.0.0.1:${vendor.port}`,
    tls: undefined,
  });
  await Bun.sleep(0);
  const error = await failureOf(Promise.resolve(pin.dial(laterMs)));
  expect(error.detail).toContain("169.254.169.254");
});

test("a name that cannot be found is told as such, and an old address is kept", async () => {
  const lost: Lookup = () => Promise.reject(new Error("ENOTFOUND"));
  const error = await failureOf(ask(dialerTo(lost), "nowhere.example"));
  expect([error.code, error.upstream?.reason]).toEqual(["upstream_error", "unreachable"]);
  expect(error.detail).toContain("nowhere.example cannot be resolved");
  let isThere = true;
  const dialer = dialerTo(async () => {
    if (isThere) return ["127.0.0.1"];
    throw new Error("SERVFAIL");
  });
  await readReply(await ask(dialer, "api.acme.example"));
  isThere = false;
  const pin = dialer.pin(`http://api.acme.example:${vendor.port}/v1`);
  await pin.dial(Date.now() + 60_000);
  await Bun.sleep(0);
  expect(await pin.dial(Date.now() + 120_000)).toMatchObject({
    origin: `http://127.0.0.1:${vendor.port}`,
  });
});

test("where one address of a name refuses the connection, the next is used", async () => {
  // Nothing listens on 127.0.0.2 at this port.
  const dialer = dialerTo(async () => ["127.0.0.2", "127.0.0.1"]);
  const response = await ask(dialer, "api.acme.example");
  expect(await readReply(response)).toEqual({ ok: true });
});

test("packages that fetch by themselves are pinned in the same way", async () => {
  served = [];
  const fetchAt = createFetch(dialerTo(async () => ["127.0.0.1"]));
  const response = await fetchAt(`http://api.acme.example:${vendor.port}/v1/x?y=1`, {
    method: "POST",
    body: "{}",
  });
  expect(await response.json()).toEqual({ ok: true });
  expect(served.map(({ host }) => host)).toEqual([`api.acme.example:${vendor.port}`]);
  const refused = createFetch(dialerTo(async () => ["10.0.0.1"], false));
  const error = await failureOf(refused("http://api.acme.example/v1/x", { method: "POST" }));
  expect(error.upstream?.reason).toBe("unreachable");
});

test("a probe tells a listener from a closed port", async () => {
  const listener: Server = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  const port = typeof address === "object" ? address?.port : 0;
  const pin = dialerTo(async () => ["127.0.0.1"]).pin(`http://127.0.0.1:${port}`);
  expect(await pin.probe(5_000)).toBeUndefined();
  await new Promise((resolve) => listener.close(resolve));
  expect(await pin.probe(5_000)).toContain("refused");
});
