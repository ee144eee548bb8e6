/** Exports to moto, a well-known stand-in for S3, read back by another client. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { createServer } from "node:net";
import { createExportsHome, type ExportsHome, linesOf } from "../setup/exports-home.ts";
import { waitUntil } from "../setup/money-home.ts";
import { pythonTool } from "./tools.ts";

const keys = { accessKeyId: "testing", secretAccessKey: "testing" };
let home: ExportsHome;
let moto: Bun.Subprocess;
let endpoint: string;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("no port is free");
  return address.port;
}

beforeEach(async () => {
  const port = await freePort();
  const program = pythonTool("moto[server]==5.1.10", "moto_server");
  moto = Bun.spawn([program, "-H", "127.0.0.1", "-p", String(port)], {
    stdout: "ignore",
    stderr: "ignore",
  });
  endpoint = `http://127.0.0.1:${port}`;
  await waitUntil("moto", () =>
    fetch(`${endpoint}/moto-api/`).then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  home = await createExportsHome(50);
});
afterEach(async () => {
  await home.remove();
  moto.kill();
  await moto.exited;
});

test("receipts arrive in a bucket, and a second export finds its objects there", async () => {
  const environment = {
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
  };
  const add = (name: string) =>
    home.json([
      "exports",
      "add",
      name,
      "--to",
      "s3://lake/svc",
      "--what",
      "receipts",
      "--endpoint",
      endpoint,
      "--region",
      "us-east-1",
      "--allow-private",
    ]);
  const run = (name: string) => home.json(["exports", "run", name], { environment });
  await add("lake");
  await run("lake");
  const [before] = (await home.show("lake")).streams;
  expect(before?.failure).toContain("(NoSuchBucket)");
  await fetch(`${endpoint}/lake`, {
    method: "PUT",
    headers: {
      authorization: "AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-1/s3/aws4_request",
    },
  });
  const client = new Bun.S3Client({ ...keys, endpoint, bucket: "lake", region: "us-east-1" });
  for (const name of ["lake", "again"]) {
    if (name === "again") await add(name);
    await run(name);
    const { contents = [] } = await client.list({ prefix: "svc/receipts/" });
    expect(contents).toHaveLength(2);
    const bodies = await Promise.all(contents.map(({ key }) => client.file(key).arrayBuffer()));
    expect(bodies.flatMap((body) => linesOf(new Uint8Array(body))).map(({ id }) => id)).toEqual(
      home.ids,
    );
  }
});
