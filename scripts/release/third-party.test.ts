import { expect, test } from "bun:test";
import { billOfMaterials, noticesText, packagesOf } from "./third-party.ts";

const folders = ["", "console", "engine"];

test("the notices name every package that ships or is installed, with its license", () => {
  const text = noticesText();
  for (const { name, version, license } of folders.flatMap(packagesOf))
    expect(text).toContain(`${name}@${version}  ${license}`);
  expect(text).not.toContain("see the package");
});

test("the notices have the license text of everything in the console's bundle", () => {
  const [, ...texts] = noticesText().split(`${"=".repeat(80)}\n`);
  const owners = texts.join("").split("\n");
  const missing = packagesOf("console").filter(
    ({ name, version }) => !owners.includes(`${name}@${version}`),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test("the bill of materials has each package once, of all three lock files, and no date", () => {
  const bill = billOfMaterials();
  const refs = bill.components.map((one) => one["bom-ref"]);
  expect(refs).toEqual([...new Set(refs)]);
  for (const { name, version } of folders.flatMap(packagesOf))
    expect(bill.components).toContainEqual(expect.objectContaining({ name, version }));
  const known = new Set([...refs, bill.metadata.component["bom-ref"]]);
  const links = bill.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
  expect(links.filter((ref) => !known.has(ref))).toEqual([]);
  expect(new Set(links)).toEqual(known);
  const bun = bill.components.find(({ name }) => name === "bun");
  expect(bun?.hashes?.[0]?.content).toMatch(/^[0-9a-f]{128}$/);
  expect(JSON.stringify(bill)).not.toMatch(/timestamp|serialNumber/);
});
