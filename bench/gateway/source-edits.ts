/**
 * Changes to the gateway's sources as they are loaded, for a preload: what is measured against must
 * differ in what it is to differ in and in nothing else. An edit that no longer fits its source
 * ends the process, so that no figure is taken of something else than its name says.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectDir } from "../load/processes.ts";

export type SourceEdit = {
  /** From the project's folder. */
  readonly path: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
};

/** The text of a source with the edits that are meant for it. */
export function editedText(path: string, edits: readonly SourceEdit[]): string {
  let text = readFileSync(join(projectDir, path), "utf8");
  for (const { find, replace } of edits.filter((edit) => edit.path === path)) {
    const pieces = text.split(find);
    if (pieces.length !== 2)
      throw new Error(`${path} has ${pieces.length - 1} times, not once: ${find}`);
    text = pieces.join(replace);
  }
  return text;
}

/** Before the sources are loaded. */
export function installEdits(edits: readonly SourceEdit[]): void {
  for (const path of new Set(edits.map((edit) => edit.path))) {
    const contents = editedText(path, edits);
    const whole = join(projectDir, path).replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    Bun.plugin({
      name: `bench edit of ${path}`,
      setup: (build) => {
        build.onLoad({ filter: new RegExp(`^${whole}$`) }, () => ({ contents, loader: "ts" }));
      },
    });
  }
}

/** How an edited source names a module of the bench. */
export function benchModule(name: string): string {
  return JSON.stringify(join(projectDir, "bench", name));
}
