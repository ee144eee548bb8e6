import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import {
  idsIn,
  idsInBatches,
  type ReceivedBatch,
  type Receiver,
  startReceiver,
  useExportsHome,
  wholeIn,
} from "../../setup/exports-home.ts";
import { waitUntil } from "../../setup/money-home.ts";
import { refusal } from "../../setup/outcomes.ts";

// Three batches in each hour.
const home = useExportsHome(1_100);
let received: readonly ReceivedBatch[] = [];
let answer: (batch: ReceivedBatch) => Response | Promise<Response>;
let receiver: Receiver;

beforeEach(() => {
  answer = () => new Response("");
  receiver = startReceiver((batch) => answer(batch));
  ({ received } = receiver);
});
afterEach(() => receiver.stop());

const add = (more = "") =>
  home.json<object>(`exports add hook --to ${receiver.url} --allow-private --what receipts${more}`);
const environment = { HOOK_TOKEN: "Bearer of-the-hook", HOOK_KEY: "signing key" };
const run = () => home.json<{ rows: number }>("exports run hook", { environment });

test("batches are posted once, in order, authorized and signed", async () => {
  await add(" --authorization env:HOOK_TOKEN --sign-with env:HOOK_KEY");
  expect(await run()).toMatchObject({ rows: 2_200 });
  expect(idsInBatches(received)).toEqual(home.ids);
  const rows = received.map(({ headers }) => headers.get("svc-export-rows"));
  expect(rows.join()).toBe("500,500,100,500,500,100");
  for (const { headers, body } of received) {
    const id = headers.get("webhook-id");
    expect(headers.get("idempotency-key")).toBe(id);
    expect(headers.get("content-type")).toBe("application/x-ndjson");
    expect(headers.get("authorization")).toBe("Bearer of-the-hook");
    const text = `${id}.${headers.get("webhook-timestamp")}.${body}`;
    const mac = createHmac("sha256", "signing key").update(text).digest("base64");
    expect(headers.get("webhook-signature")).toBe(`v1,${mac}`);
  }
  expect(new Set(received.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(6);
  expect(await run()).toMatchObject({ rows: 0 });
});

test("a key behind whsec_ is decoded, and one that is no key is refused with its setting", async () => {
  await add(" --sign-with env:HOOK_KEY");
  const testWith = (key: string) =>
    home.svc("exports test hook", { environment: { HOOK_KEY: key } });
  for (const key of ["whsec_", "whsec_c2hvcnQ=", `whsec_${"not base64!".repeat(5)}`]) {
    expect(await testWith(key)).toMatchObject(refusal(1, "sign_with must be a key of"));
  }
  expect(received).toHaveLength(0);
  const bytes = Buffer.alloc(24, 7);
  expect((await testWith(`whsec_${bytes.toString("base64")}`)).code).toBe(0);
  const [{ headers, body } = { headers: new Headers(), body: "" }] = received;
  const text = `${headers.get("webhook-id")}.${headers.get("webhook-timestamp")}.${body}`;
  const mac = createHmac("sha256", bytes).update(text).digest("base64");
  expect(headers.get("webhook-signature")).toBe(`v1,${mac}`);
});

test("a receiver that fails or redirects gets the same batch until it takes it; none is lost", async () => {
  const answers = [
    () => new Response("", { status: 500 }),
    () => Response.redirect("http://127.0.0.1:1/"),
    () => new Response("", { status: 413 }),
  ];
  const failures: (string | null | undefined)[] = [];
  await add();
  for (const next of answers) {
    answer = next;
    await run();
    failures.push((await home.show("hook")).streams[0]?.failure);
  }
  expect(failures).toEqual([
    "it returned 500",
    "it returned a redirect (302), which is not followed",
    "it returned 413",
  ]);
  expect(received).toHaveLength(3);
  expect(new Set(received.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
  answer = () => new Response("");
  await run();
  expect(idsInBatches(received.slice(3))).toEqual(home.ids);
});

test("a receiver that hangs delays neither calls nor other exports nor the end", async () => {
  answer = () => new Promise<Response>(() => {});
  const server = await home.serve({});
  await add();
  await home.json(`exports add archive --to file://${home.dir} --what receipts`);
  await waitUntil("a request", () => received.length === 1);
  await waitUntil("the other export", () => wholeIn(home.dir).length === 2);
  expect(idsIn(home.dir)).toEqual(home.ids);
  expect(await server.stop()).toBe(0);
});
