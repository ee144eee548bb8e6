import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ExportView } from "../../../src/platform/exports/schemas.ts";
import { openSqlite } from "../../../src/store/sqlite/sqlite.ts";
import { filesIn, idsIn, useExportsHome } from "../../setup/exports-home.ts";

/** What a directory keeps, and from whom. */
const home = useExportsHome(3);

const add = (line: string) => home.json<ExportView>(`exports add ${line} --to file://${home.dir}`);

test("a directory without the marker is not filled, until its export is resumed", async () => {
  await add("archive --what receipts");
  const marker = join(home.dir, ".svc-export.json");
  expect(JSON.parse(readFileSync(marker, "utf8"))).toEqual({
    store: expect.stringMatching(/^[0-9a-f]{32}$/),
    export: "archive",
  });
  // A first delivery finds the directory as the export was added to it, or empty.
  rmSync(marker);
  await home.json("exports run archive");
  expect(idsIn(home.dir)).toEqual(home.ids);
  // The volume goes away, and its mount point is there.
  const volume = `${home.dir}-volume`;
  renameSync(home.dir, volume);
  await home.receive();
  await setBack();
  await home.json("exports run archive");
  const failure = async () => (await home.show("archive")).streams[0]?.failure;
  expect(await failure()).toBe(`${home.dir} does not exist (ENOENT)`);
  mkdirSync(home.dir);
  await home.json("exports run archive");
  expect(await failure()).toContain(`${home.dir} is not the directory that was exported to`);
  expect(await failure()).toContain("run svc exports resume archive");
  expect((await home.svc("exports test archive")).stderr).toContain(".svc-export.json");
  // The end of a pause says nothing about the directory.
  await home.json("exports pause archive");
  await home.json("exports resume archive");
  expect(readdirSync(home.dir)).toEqual([]);
  await home.json("exports resume archive");
  await home.json("exports run archive");
  expect(await failure()).toBeNull();
  expect(filesIn(home.dir)).toHaveLength(1);
});

/** The newest hour comes next again. */
async function setBack(): Promise<void> {
  const { raw } = openSqlite(join(home.dataDir, "svc.db"));
  raw.run("update export_streams set hour_ms = hour_ms - 3600000");
  raw.close();
}

test("a directory belongs to one export of one gateway", async () => {
  await add("archive");
  const refused = async (words: readonly string[]) => {
    const { code, stderr } = await home.svc(["exports", ...words]);
    expect(code).toBe(1);
    return stderr;
  };
  const to = ["--to", `file://${home.dir}`];
  expect(await refused(["add", "other", ...to])).toContain("belongs to another export");
  await home.json(["exports", "add", "other", ...to, "--no-test"]);
  expect(await refused(["resume", "other"])).toContain("belongs to another export");
  await home.json("exports run other");
  expect((await home.show("other")).streams[0]?.failure).toContain("belongs to another export");
  expect(filesIn(home.dir)).toEqual([]);
  // What it was has gone, and another one may have the directory.
  await home.json("exports remove archive");
  await home.json("exports run other");
  expect(idsIn(home.dir)).toEqual(home.ids);
});

test("an older backup that is restored replaces no file that has more rows", async () => {
  await add("archive --what receipts");
  const file = join(home.dataDir, "..", "old.svcbackup");
  await home.json(["backup", file]);
  const lost = await home.receive();
  await home.json("exports run archive");
  expect(idsIn(home.dir)).toEqual([...home.ids, lost]);
  const files = filesIn(home.dir);
  const restored = join(home.dataDir, "..", "restored");
  mkdirSync(restored);
  copyFileSync(join(home.dataDir, "secret"), join(restored, "secret"));
  const environment = { SVC_DATA_DIR: restored };
  await home.json(["restore", file, "--data-dir", restored], { environment });
  await home.json("exports resume archive", { environment });
  await home.json("exports run archive", { environment });
  const others = filesIn(home.dir).filter((path) => !files.includes(path));
  expect(others).toEqual([expect.stringMatching(/-0001-[0-9a-f]{12}\.jsonl\.gz$/)]);
  expect(idsIn(home.dir).toSorted()).toEqual([...home.ids, ...home.ids.slice(3), lost].toSorted());
});
