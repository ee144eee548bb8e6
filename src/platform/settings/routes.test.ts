import { expect, test } from "bun:test";
import { usePlatform } from "../../../test/setup/use-platform.ts";
import { settingList } from "../../config/settings.ts";

const secret = "correct-horse-battery-staple-0123456789";
const { gateway, operator } = usePlatform({
  environment: { SVC_SECRET: secret },
  manifest: "settings: { retries: 3, max_call_s: 120 }\n",
});

interface Setting {
  readonly name: string;
  readonly in_file: string | null;
}

async function settings() {
  const { body, response } = await operator.ask("GET /api/settings");
  const find = (name: string) => body.settings.find((one: Setting) => one.name === name);
  return { body, find, text: await response.text() };
}

test("every setting is told with its value, where it is from and what it is", async () => {
  const { body, find } = await settings();
  expect(body.settings).toHaveLength(Object.keys(settingList).length);
  expect(find("SVC_MAX_CALL_S")).toEqual({
    name: "SVC_MAX_CALL_S",
    in_file: "max_call_s",
    value: "120",
    source: "file",
    about: settingList.maxCallMs.about,
  });
  // The environment goes before the file.
  expect(find("SVC_RETRIES")).toMatchObject({ value: "0", source: "environment" });
  expect(find("SVC_IDLE_S")).toMatchObject({ value: "120", source: "default" });
});

test("a secret is told to be set, and nothing else of it", async () => {
  const { find, text } = await settings();
  expect(find("SVC_SECRET")).toMatchObject({ value: "(set)", source: "environment" });
  expect(text).not.toContain(secret);
  expect(text).not.toContain("vendor-secret");
});

test("what the config file may say is told with its name there, and the rest is not", async () => {
  const { body } = await settings();
  const told = body.settings
    .filter(({ in_file }: Setting) => in_file === null)
    .map(({ name }: Setting) => name);
  const expected = Object.values<{ env: string; inFile?: false }>(settingList)
    .filter(({ inFile }) => inFile === false)
    .map(({ env }) => env);
  expect(told).toEqual(expected);
});

test("the size of the database and the folder of the data are told", async () => {
  const { body } = await settings();
  expect(body.data_directory).toBe(gateway.dataDir);
  expect(body.database_bytes).toBeGreaterThan(Bun.file(`${gateway.dataDir}/svc.db`).size);
  expect(body).toMatchObject({ version: "0.0.0-test", platform_url: gateway.platformUrl });
});
