import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { groupsOf, mayCreateIn } from "./permissions.ts";

let folder: string;
let dir: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-permissions-"));
  chmodSync(folder, 0o711);
  dir = join(folder, "exports");
  mkdirSync(dir);
});
afterEach(() => {
  chmodSync(dir, 0o700);
  rmSync(folder, { recursive: true });
});

/** For its owner, a member of its group and a stranger. */
function mayAt(mode: number): readonly boolean[] {
  chmodSync(dir, mode);
  const { uid, gid } = statSync(dir);
  return [
    { uid, groups: new Set<number>() },
    { uid: uid + 1, groups: new Set([gid]) },
    { uid: uid + 1, groups: new Set([gid + 1]) },
  ].map((user) => mayCreateIn(dir, user));
}

test("owner, group and all others each have their own permissions, for writing and entering", () => {
  expect(mayAt(0o700)).toEqual([true, false, false]);
  expect(mayAt(0o770)).toEqual([true, true, false]);
  expect(mayAt(0o777)).toEqual([true, true, true]);
  expect(mayAt(0o077)).toEqual([false, true, true]);
  expect(mayAt(0o707)).toEqual([true, false, true]);
  expect(mayAt(0o666)).toEqual([false, false, false]);
  expect(mayAt(0o555)).toEqual([false, false, false]);
});

test("a directory above that cannot be entered counts", () => {
  chmodSync(folder, 0o700);
  expect(mayAt(0o777)).toEqual([true, false, false]);
});

test("a user whose groups are not known may do what the group or all others may", () => {
  const { uid } = statSync(dir);
  const may = (mode: number) => {
    chmodSync(dir, mode);
    return mayCreateIn(dir, { uid: uid + 1, groups: undefined });
  };
  expect([0o700, 0o770, 0o707].map(may)).toEqual([false, true, true]);
});

test("groups are those of the user's entry and those that list the user by name", () => {
  const [passwd, group] = [join(folder, "passwd"), join(folder, "group")];
  writeFileSync(
    passwd,
    "root:x:0:0:root:/root:/bin/sh\n\nsvc:x:990:980::/var/lib/svc:/bin/false\n",
  );
  writeFileSync(
    group,
    "root:x:0:\nsvc:x:980:\nexports:x:970:root,svc\nother:x:960:svcs,\nbroken\n",
  );
  const of = (uid: number) => groupsOf(uid, { passwd, group });
  expect(of(990)).toEqual(new Set([980, 970]));
  expect(of(0)).toEqual(new Set([0, 970]));
  expect(of(1234)).toBeUndefined();
  expect(groupsOf(990, { passwd: join(folder, "none"), group })).toBeUndefined();
});
