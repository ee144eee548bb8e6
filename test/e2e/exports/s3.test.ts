import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { linesOf, useExportsHome } from "../../setup/exports-home.ts";
import { refusal } from "../../setup/outcomes.ts";
import { type S3StandIn, s3Keys, startS3 } from "../../setup/s3-stand-in.ts";

const home = useExportsHome(3);
let s3: S3StandIn;
const environment = {
  AWS_ACCESS_KEY_ID: s3Keys.id,
  AWS_SECRET_ACCESS_KEY: s3Keys.secret,
  AWS_SESSION_TOKEN: s3Keys.token,
};
beforeEach(() => {
  s3 = startS3("eu-central-1");
});
afterEach(() => s3.stop());

const place = "--to s3://bucket/svc/a=1 --region eu-central-1 --allow-private";
const add = (more = "") =>
  home.json<object>(`exports add lake ${place} --what receipts --endpoint ${s3.url}${more}`);
const run = () => home.json<object>("exports run lake", { environment });
const ids = () => [...s3.objects.values()].flatMap(linesOf).map(({ id }) => id);

test("objects are signed, whole, and below the prefix", async () => {
  const added = await add();
  expect(added).toMatchObject({
    to: "s3://bucket/svc/a=1",
    settings: { access_key_id: "env:AWS_ACCESS_KEY_ID", region: "eu-central-1" },
  });
  expect(await run()).toMatchObject({ rows: 6, export: { state: "running" } });
  expect(ids()).toEqual(home.ids);
  expect([...s3.objects.keys()][0]).toMatch(
    /^bucket\/svc\/a=1\/receipts\/\d{4}-\d\d-\d\d\/\d\d\/receipts-[\dT-]+-0001\.jsonl\.gz$/,
  );
  await home.ok("exports test lake", { environment });
});

test("an object with other content is not replaced; its hour gets another name", async () => {
  await add();
  await run();
  const [first = "", second = ""] = s3.objects.keys();
  const whole = gzipSync('{"id":"of another gateway"}\n');
  s3.objects.set(first, whole);
  await home.json("exports remove lake");
  await add();
  // Without the right to read, each object that is there is taken for another one.
  s3.allows.reading = false;
  for (let round = 0; round < 2; round++) {
    await run();
    expect(s3.objects.get(first)).toBe(whole);
    expect([...s3.objects.keys()]).toEqual([
      first,
      second,
      expect.stringMatching(/-0001-[0-9a-f]{12}\.jsonl\.gz$/),
      expect.stringMatching(/-0001-[0-9a-f]{12}\.jsonl\.gz$/),
    ]);
    expect(ids()).toEqual(["of another gateway", ...home.ids.slice(3), ...home.ids]);
    await home.json("exports remove lake");
    await add();
  }
});

test("a server without conditional writes gets plain ones", async () => {
  s3.allows.conditions = false;
  await add();
  expect(await run()).toMatchObject({ rows: 6 });
  expect(ids()).toEqual(home.ids);
});

test("what the server refuses is shown by its code, without secrets, and nothing is skipped", async () => {
  const secretFile = join(home.dataDir, "wrong");
  writeFileSync(secretFile, "another-secret\n", { mode: 0o600 });
  const own = "--access-key-id env:AWS_ACCESS_KEY_ID --session-token env:AWS_SESSION_TOKEN";
  await add(` ${own} --secret-access-key file:${secretFile}`);
  await run();
  const view = await home.show("lake");
  expect(view.streams[0]?.failure).toBe("it returned 403 (SignatureDoesNotMatch)");
  expect(JSON.stringify(view)).not.toContain("another-secret");
  // A vault replaces the file.
  writeFileSync(secretFile, s3Keys.secret);
  await run();
  expect(ids()).toEqual(home.ids);
});

test("a variable that is missing is named", async () => {
  await add();
  expect(await home.svc("exports test lake")).toMatchObject(
    refusal(1, "the environment of the gateway has no AWS_ACCESS_KEY_ID"),
  );
});
