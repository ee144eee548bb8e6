import { expect, test } from "bun:test";
import { ownerOf } from "../model.ts";
import { fromCarried, toCarried } from "./carried.ts";

const owner = ownerOf({ provider: "amazon-bedrock" });

for (const [theirs, ours] of [
  ["signature", "signature"],
  ["redactedData", "data"],
  ["redactedContent", "redacted_content"],
] as const)
  test(`${theirs} is carried as ${ours}, and goes back under the name that its package looks for`, () => {
    const told = { itemId: "rs_1", [theirs]: "c2lnbmVk" };
    const carried = toCarried(
      { unknown: null, empty: {}, amazonBedrock: told, bedrock: told },
      owner,
    );
    expect(carried).toEqual({ format: owner.mark, [ours]: "c2lnbmVk" });
    const fields = { [theirs]: "c2lnbmVk" };
    expect(fromCarried(carried, owner)).toEqual({ providerOptions: { amazonBedrock: fields } });
  });

test("what is no signature is not told to the caller", () => {
  const caller = { type: "direct" };
  for (const metadata of [
    undefined,
    null,
    "text",
    [],
    {},
    { anthropic: { caller, itemId: "rs_1", signature: "", redactedData: 7 } },
    { anthropic: { signature: "s".repeat(1024 * 1024 + 1) } },
  ])
    expect(toCarried(metadata, owner)).toBeUndefined();
});

test("each vendor has a mark of its own, which is always the same", () => {
  const providers = ["anthropic.messages", "amazon-bedrock"];
  const marks = providers.map((provider) => ownerOf({ provider }).mark);
  expect(new Set(marks).size).toBe(providers.length);
  expect(providers.map((provider) => ownerOf({ provider }).mark)).toEqual(marks);
  // Conversations outlive a release: a change would lose the thoughts of those that run.
  expect(marks[0]).toBe("svc-xw7Kaw-I");
});
