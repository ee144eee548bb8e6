import { afterAll, beforeAll, expect, jest, test } from "bun:test";
import { type DeafListener, startDeafListener } from "../../../test/chaos/deaf-listener.ts";
import { ApiError } from "../../base/errors.ts";
import { Dialer, type Lookup, type Pin } from "./dial.ts";
import { baseHeaders, createFetch, send } from "./http.ts";

/** Listens at one address of this machine only: at the others nobody does. */
let vendor: ReturnType<typeof Bun.serve>;
let deaf: DeafListener;

beforeAll(async () => {
  vendor = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({ ok: true }) });
  deaf = await startDeafListener();
});
afterAll(async () => {
  await vendor.stop(true);
  await deaf.stop();
});

const dialerTo = (lookup: Lookup) => new Dialer({ provider: "acme", allowPrivate: true, lookup });
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
  const pin = dialerTo(async () => [a, b]).pin("http://127.0.0.1:8080/v1");
  const dialled = await pin.dial();
  expect([pin.count, pin.next(dialled)]).toEqual([1, dialled]);
});

test("a look at an address that takes no connection leads the calls to come to the next one", async () => {
  const dialer = dialerTo(async () => ["127.0.0.1", b]);
  const pin = dialer.pin(`http://api.acme.example:${deaf.port}/v1`);
  expect(await originOf(pin)).toBe(`http://127.0.0.1:${deaf.port}`);
  expect(await pin.probe(50)).toBe("the connection timed out");
  expect(await originOf(pin)).toBe(`http://${b}:${deaf.port}`);
});

test("a look at an address that does leaves everything as it is", async () => {
  const dialer = dialerTo(async () => ["127.0.0.1", b]);
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
  const nowhere = createFetch(dialerTo(async () => [a, b]))(url, { method: "POST" });
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
