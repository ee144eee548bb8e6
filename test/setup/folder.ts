import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder for the tests of one file, which goes with the last of them. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-files-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  return folder;
}
