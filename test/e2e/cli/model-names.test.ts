/** `svc model alias`, `unalias`, `rename` and `remove`, without a running server and with one. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatJson } from "../../fake/recordings.ts";
import { type ChildServer, createHome } from "../../setup/child.ts";
import { hello } from "../../setup/money-home.ts";
import { refusal, succeeds } from "../../setup/outcomes.ts";
import { useFakeUpstream } from "../../setup/use-upstream.ts";

const upstream = await useFakeUpstream();
const home = createHome();
afterAll(() => home.remove());
let server: ChildServer;
let key: string;

const model = (line: string) => home.svc(`model ${line}`);
const json = <T extends object>(line: string) => home.json<T>(`model ${line}`);
const ids = async () => (await json<readonly { id: string }[]>("list")).map(({ id }) => id);
async function problem(line: string) {
  const { code, stdout, stderr } = await model(`${line} --json`);
  return { exit: code, stdout, ...(JSON.parse(stderr) as { error: object }).error };
}

beforeAll(async () => {
  upstream.replyWith(chatJson());
  home.writeConfig(`
providers: { fake: { kind: openai, base_url: "${upstream.baseUrl}", api_key: x, allow_private: true } }
models: { in-file: { endpoint: chat, price: { input: 0, output: 0 }, routes: [{ provider: fake, model: m }] } }`);
  await home.json("account create acme");
  ({ key } = await home.json<{ key: string }>("key create --account acme"));
  server = await home.serve();
  for (const id of ["fast", "slow", "called", "hasty", "spare"]) {
    await home.json(`model add ${id} --provider fake --upstream ${id}`);
    await home.json(`price set ${id} --input 0 --output 0`);
  }
});

const chat = async (name: string) => {
  const reply = await server.post("/chat/completions", { ...hello, model: name }, key);
  await reply.arrayBuffer();
  return reply.status;
};

describe("an alias", () => {
  test("is added, works at once, and is removed", async () => {
    const { code, stdout } = await model("alias fast quick");
    expect([code, stdout]).toEqual([0, expect.stringContaining("fast")]);
    expect(await json("alias fast swift")).toMatchObject({
      id: "fast",
      aliases: ["quick", "swift"],
    });
    expect((await model("unalias fast quick")).code).toBe(0);
    expect(await json("unalias fast swift")).toMatchObject({ id: "fast", aliases: [] });
    expect(await chat("quick")).toBe(403);
  });

  test("that is taken, invalid or unknown is refused, with an exit code for each", async () => {
    await model("alias slow taken");
    expect(await problem("alias fast taken")).toMatchObject({
      exit: 4,
      code: "conflict",
      stdout: "",
    });
    expect(await problem("alias fast slow")).toMatchObject({ exit: 4, code: "conflict" });
    expect(await problem("alias fast bad%name")).toMatchObject({ exit: 2, field: "alias" });
    expect(await problem("unalias fast taken")).toMatchObject({ exit: 3, field: "alias" });
    expect(await problem("alias none any")).toMatchObject({ exit: 3, code: "not_found" });
  });
});

describe("a model that was never called", () => {
  test("is renamed, and keeps its old id as an alias where that is asked for", async () => {
    const { code, stdout } = await model("rename hasty steady");
    expect([code, stdout]).toEqual([0, expect.stringContaining("steady")]);
    expect(await json("rename steady calm --keep-alias")).toMatchObject({
      id: "calm",
      aliases: ["steady"],
    });
    expect(await ids()).not.toContain("hasty");
    expect(await problem("rename calm fast")).toMatchObject({ exit: 4, field: "id" });
    expect(await problem("rename calm bad%name")).toMatchObject({ exit: 2, field: "id" });
  });

  test("is deleted, and the keys that are limited to it are named", async () => {
    await home.json("key create --account acme --name ci --models spare");
    const stdout = succeeds(await model("remove spare"));
    expect(stdout).toStartWith("removed spare\n");
    expect(stdout).toContain("Keys that are still limited to it: ci");
    expect(await ids()).not.toContain("spare");
    expect(await problem("remove spare")).toMatchObject({ exit: 3, code: "not_found" });
  });
});

test("a model that was called stays, and the refusal names the command to use", async () => {
  expect(await chat("called")).toBe(200);
  const renamed = await model("rename called other");
  expect([renamed.code, renamed.stdout]).toEqual([4, ""]);
  expect(renamed.stderr).toContain("Try: svc model alias called other");
  expect(await model("remove called")).toMatchObject(refusal(4, "Try: svc model deprecate called"));
});

test("a model of the file stays, and the refusal names the file", async () => {
  for (const line of ["remove in-file", "rename in-file other"])
    expect(await model(line)).toMatchObject(refusal(4, "is defined in svc.yaml"));
});
