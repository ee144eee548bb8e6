import { afterAll, beforeAll, expect, jest, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { type DeafListener, startDeafListener } from "../../../test/chaos/deaf-listener.ts";
import { apiErrorOf } from "../../../test/providers/failure-of.ts";
import { ApiError } from "../../base/errors.ts";
import { Dialer, type Lookup, type Pin } from "./dial.ts";
import { baseHeaders, createFetch, send } from "./http.ts";
import { readReply } from "./reply.ts";

let served: { host: string | null; from: string }[] = [];
/** Listens at one address of this machine only: at the others nobody does. */
let vendor: ReturnType<typeof Bun.serve>;
let deaf: DeafListener;

beforeAll(async () => {
  deaf = await startDeafListener();
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
afterAll(async () => {
  await vendor.stop(true);
  await deaf.stop();
});

const dialerTo = (lookup: Lookup, allowPrivate = true) =>
  new Dialer({ provider: "acme", allowPrivate, lookup });

/** A name with these addresses. */
const atNames = (...addresses: readonly string[]) => dialerTo(async () => addresses);

function ask(dialer: Dialer, host = "api.acme.example") {
  const pin = dialer.pin(`http://${host}:${vendor.port}/v1`);
  const { signal } = new AbortController();
  return send({ provider: "acme", pin, path: "/v1/models", headers: baseHeaders(pin), signal });
}

test("a name is called at the address that was looked at, and still by its name", async () => {
  served = [];
  expect(await readReply(await ask(atNames("127.0.0.1")))).toEqual({ ok: true });
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
    const dialer = dialerTo(async () => ["93.184.216.34", address], false);
    const error = await apiErrorOf(ask(dialer));
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
    const error = await apiErrorOf(ask(atNames(address)));
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
  await readReply(await ask(dialer));
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
  const error = await apiErrorOf(Promise.resolve(pin.dial(laterMs)));
  expect(error.detail).toContain("169.254.169.254");
});

test("a name that cannot be found is told as such, and an old address is kept", async () => {
  const lost: Lookup = () => Promise.reject(new Error("ENOTFOUND"));
  const error = await apiErrorOf(ask(dialerTo(lost), "nowhere.example"));
  expect([error.code, error.upstream?.reason]).toEqual(["upstream_error", "unreachable"]);
  expect(error.detail).toContain("nowhere.example cannot be resolved");
  let isThere = true;
  const dialer = dialerTo(async () => {
    if (isThere) return ["127.0.0.1"];
    throw new Error("SERVFAIL");
  });
  await readReply(await ask(dialer));
  isThere = false;
  const pin = dialer.pin(`http://api.acme.example:${vendor.port}/v1`);
  await pin.dial(Date.now() + 60_000);
  await Bun.sleep(0);
  expect(await pin.dial(Date.now() + 120_000)).toMatchObject({
    origin: `http://127.0.0.1:${vendor.port}`,
  });
});

test("packages that fetch by themselves are pinned in the same way", async () => {
  served = [];
  const fetchAt = createFetch(atNames("127.0.0.1"));
  const response = await fetchAt(`http://api.acme.example:${vendor.port}/v1/x?y=1`, {
    method: "POST",
    body: "{}",
  });
  expect(await response.json()).toEqual({ ok: true });
  expect(served.map(({ host }) => host)).toEqual([`api.acme.example:${vendor.port}`]);
  const refused = createFetch(dialerTo(async () => ["10.0.0.1"], false));
  const error = await apiErrorOf(refused("http://api.acme.example/v1/x", { method: "POST" }));
  expect(error.upstream?.reason).toBe("unreachable");
});

test("a probe tells a listener from a closed port", async () => {
  const listener: Server = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  const port = typeof address === "object" ? address?.port : 0;
  const pin = atNames("127.0.0.1").pin(`http://127.0.0.1:${port}`);
  expect(await pin.probe(5_000)).toBeUndefined();
  await new Promise((resolve) => listener.close(resolve));
  expect(await pin.probe(5_000)).toContain("refused");
});

const [a, b, c] = ["127.0.0.2", "127.0.0.3", "127.0.0.4"] as const;
const originOf = async (pin: Pin) => (await pin.dial()).origin;

/** A name with these addresses, and how often it was looked up. */
function named(...addresses: readonly string[]) {
  const state = { looks: 0, addresses };
  const pin = dialerTo(async () => {
    state.looks++;
    return state.addresses;
  }).pin("http://api.acme.example:8080/v1");
  return { pin, state };
}

test("addresses are tried in turn, and behind the last one the first again", async () => {
  const { pin } = named(a, b, c);
  let dialled = await pin.dial();
  const tried = [dialled.origin];
  for (let turn = 0; turn < 3; turn++) {
    dialled = pin.next(dialled);
    tried.push(dialled.origin);
  }
  expect(tried).toEqual([a, b, c, a].map((host) => `http://${host}:8080`));
  expect(pin.count).toBe(3);
});

test("two calls that failed at the same address move on by one, not by two", async () => {
  const { pin } = named(a, b, c);
  const failed = await pin.dial();
  expect(pin.next(failed).origin).toBe(`http://${b}:8080`);
  expect(pin.next(failed).origin).toBe(`http://${b}:8080`);
});

test("an address that did not answer has the name looked up anew, at once and once", async () => {
  const { pin, state } = named(a, b);
  const failed = await pin.dial();
  await pin.dial();
  expect(state.looks).toBe(1);
  pin.next(failed);
  await pin.dial();
  expect(state.looks).toBe(2);
  await Bun.sleep(0);
  await pin.dial();
  expect(state.looks).toBe(2);
});

test("an address that works is kept when the name is looked up anew, wherever it stands then", async () => {
  const { pin, state } = named(a, b, c);
  pin.next(await pin.dial());
  state.addresses = [c, a, b];
  await pin.dial();
  await Bun.sleep(0);
  expect(state.looks).toBe(2);
  expect(await originOf(pin)).toBe(`http://${b}:8080`);
  // And left when it is gone.
  state.addresses = [c, a];
  pin.next({ origin: "http://elsewhere.example:8080", tls: undefined, pool: undefined });
  await pin.dial();
  await Bun.sleep(0);
  expect(await originOf(pin)).toBe(`http://${c}:8080`);
});

test("an address in the settings itself has no other", async () => {
  const pin = atNames(a, b).pin("http://127.0.0.1:8080/v1");
  const dialled = await pin.dial();
  expect([pin.count, pin.next(dialled)]).toEqual([1, dialled]);
});

test("a look at an address that takes no connection leads the calls to come to the next one", async () => {
  const dialer = atNames("127.0.0.1", b);
  const pin = dialer.pin(`http://api.acme.example:${deaf.port}/v1`);
  expect(await originOf(pin)).toBe(`http://127.0.0.1:${deaf.port}`);
  expect(await pin.probe(50)).toBe("the connection timed out");
  expect(await originOf(pin)).toBe(`http://${b}:${deaf.port}`);
});

test("a look at an address that does leaves everything as it is", async () => {
  const dialer = atNames("127.0.0.1", b);
  const pin = dialer.pin(`http://api.acme.example:${vendor.port}/v1`);
  const before = await originOf(pin);
  expect(await pin.probe(5_000)).toBeUndefined();
  expect(await originOf(pin)).toBe(before);
});

test("every address is tried once, the last one too, and then the failure is told", async () => {
  const at = (...addresses: string[]) => {
    const pin = dialerTo(async () => addresses).pin(`http://api.acme.example:${vendor.port}/v1`);
    const { signal } = new AbortController();
    return send({ provider: "acme", pin, path: "/v1", headers: baseHeaders(pin), signal });
  };
  expect((await at(a, b, "127.0.0.1")).status).toBe(200);
  const failure: unknown = await at(a, b, c).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "upstream_error", upstream: { reason: "unreachable" } });
});

test("packages that fetch by themselves move on from address to address too", async () => {
  const lookup: Lookup = async () => [a, b, "127.0.0.1"];
  const url = `http://api.acme.example:${vendor.port}/v1`;
  const response = await createFetch(dialerTo(lookup))(url, { method: "POST", body: "{}" });
  expect(await response.json()).toEqual({ ok: true });
  const nowhere = createFetch(atNames(a, b))(url, { method: "POST" });
  await expect(nowhere).rejects.toThrow("connect");
});

test("a name without any address is one that cannot be resolved", async () => {
  const { pin, state } = named();
  const failure: unknown = await Promise.resolve(pin.dial()).catch((error: unknown) => error);
  expect(failure instanceof ApiError && failure.detail).toBe(
    "acme: the host name api.acme.example cannot be resolved",
  );
  // An old address outlives such an answer.
  state.addresses = [a];
  expect(await originOf(pin)).toBe(`http://${a}:8080`);
  state.addresses = [];
  await pin.dial(Date.now() + 60_000);
  await Bun.sleep(0);
  expect(await originOf(pin)).toBe(`http://${a}:8080`);
});

test("a name that nobody answers for is given up after five seconds", async () => {
  jest.useFakeTimers();
  try {
    const pin = dialerTo(() => new Promise(() => {})).pin("http://api.acme.example/v1");
    const finding = Promise.resolve(pin.dial()).catch((error: unknown) => error);
    jest.advanceTimersByTime(4_999);
    const early = Symbol("early");
    expect(await Promise.race([finding, settled(early)])).toBe(early);
    jest.advanceTimersByTime(1);
    const late = Symbol("late");
    const failure = await Promise.race([finding, settled(late)]);
    expect(failure instanceof ApiError && failure.detail).toContain("cannot be resolved");
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

/** After all that is ready to happen has happened. */
async function settled<T>(value: T): Promise<T> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  return value;
}
