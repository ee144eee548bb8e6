/** Keys are tried before they are kept, one provider can have several, and both can be paused. */

import { beforeEach, describe, expect, test } from "bun:test";
import { operatorErrors } from "../../../fake/recordings.ts";
import { willingVendor } from "../../../fake/willing-vendor.ts";
import { refusesAll, succeeds } from "../../../setup/outcomes.ts";
import { useProviderHome } from "../../../setup/provider-home.ts";

const stage = useProviderHome();
const goodKey = "sk-good-0123456789abcd";
const badKey = "sk-bad-0123456789-wxyz";

beforeEach(() =>
  stage.upstream.replyWith((request) =>
    String(request.headers["authorization"]).includes("sk-bad")
      ? operatorErrors.badKey()
      : willingVendor(request),
  ),
);

const add = (more = "") =>
  stage.provider(`add ${stage.own(` --key-stdin --no-models${more}`)}`, { stdin: goodKey });
const keys = async () =>
  (await stage.list())[0]?.keys.map(({ name, weight, paused }) => [name, weight, paused]);

describe("a key that the provider rejects", () => {
  test("keeps a provider from being added, until --no-test", async () => {
    const line = `add ${stage.own(" --key-stdin --no-models")}`;
    const { code, stderr } = await stage.provider(line, { stdin: badKey });
    expect(code).toBe(1);
    expect(stderr).toContain("mine rejected the key (401");
    expect(stderr).toContain("Nothing was changed. To save it anyway, use --no-test.");
    expect(stderr).not.toContain(badKey);
    expect(await stage.list()).toEqual([]);
    succeeds(await stage.provider(`${line} --no-test`, { stdin: badKey }));
    expect(await stage.list()).toMatchObject([{ name: "mine", status: "untested" }]);
    // Only the list of models can be requested.
    expect((await stage.provider("test mine")).code).toBe(1);
  });
});

describe("several keys", () => {
  test("are added, listed, weighted, renamed, paused and removed, and never printed", async () => {
    succeeds(await add());
    const outputs = [
      await stage.provider("key add mine second --key-stdin --weight 3", { stdin: `${goodKey}-2` }),
      await stage.provider("key list mine"),
      await stage.provider("key list mine --json"),
      await stage.provider("list"),
      await stage.provider("test mine"),
    ];
    for (const output of outputs) expect(succeeds(output)).not.toContain("sk-good");
    expect(outputs[1]?.stdout).toMatch(/second +\S+ +3 +stored, …cd-2/);
    expect(await keys()).toEqual([
      ["default", 1, false],
      ["second", 3, false],
    ]);
    succeeds(await stage.provider("key update mine second --rename spare --weight 0 --pause"));
    expect(await keys()).toEqual([
      ["default", 1, false],
      ["spare", 0, true],
    ]);
    succeeds(await stage.provider("key update mine spare --resume"));
    succeeds(await stage.provider("key remove mine default"));
    expect(await keys()).toEqual([["spare", 0, false]]);
    expect(succeeds(await stage.provider("pause mine"))).toContain("paused mine");
    expect(await stage.list()).toMatchObject([{ paused: true, status: "paused" }]);
    expect(succeeds(await stage.provider("resume mine --json"))).toContain('"paused": false');
  });

  test("are refused with the flag that is wrong", async () => {
    succeeds(await add());
    await refusesAll((line) => stage.provider(line), [
      ["key add mine default --key-env A_KEY --no-test", 4, 'Key "default" already exists'],
      ["key add mine second", 2, "The key is missing"],
      ["key update mine second --weight 1", 3, 'mine has no key "second"'],
      ["key update mine default", 2, "Nothing to change"],
      ["key update mine default --weight many", 2, "Weight must be a whole number"],
      ["key update mine default --pause --resume", 2, "Use either --pause or --resume"],
      ["key list nobody", 3, 'Unknown provider "nobody"'],
    ] as const);
    expect(await keys()).toEqual([["default", 1, false]]);
  });
});
