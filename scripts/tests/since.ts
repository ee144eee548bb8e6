/** Chooses the test files that a change can reach. */

import { giveUp, root } from "./checkout.ts";
import { readUsers } from "./imports.ts";

/**
 * Every end-to-end test imports the composition root, by way of what starts a server for it. The
 * graph alone would choose all of them for any change, so it stops there; behind it, this table says
 * which end-to-end tests own what a folder of src guarantees.
 */
const walls = /^(src\/(app\/|main\.ts$)|test\/(setup|fake|replies)\/)/;
export const owners: Readonly<Record<string, readonly string[]>> = {
  "src/app/": ["test/e2e/platform/", "test/e2e/requests/"],
  "src/backup/": ["test/e2e/store/"],
  "src/base/": ["test/e2e/requests/", "test/e2e/chat/"],
  "src/call/": ["test/dialects/"],
  "src/catalog/": ["test/e2e/models/", "test/e2e/cli/"],
  "src/cli/": ["test/e2e/cli/"],
  "src/config/": ["test/e2e/cli/"],
  "src/engine/": ["test/e2e/embeddings/"],
  "src/exports/": ["test/e2e/exports/"],
  "src/fleet/": ["test/store/"],
  "src/gateway/": ["test/e2e/requests/", "test/e2e/chat/", "test/e2e/idempotency/"],
  "src/keys/": ["test/e2e/requests/keys.test.ts"],
  "src/ledger/": ["test/e2e/money/"],
  "src/limits/": ["test/e2e/limits/"],
  "src/manifest/": ["test/e2e/cli/"],
  "src/media/": ["test/e2e/embeddings/", "test/e2e/transcription/"],
  "src/people/": ["test/e2e/platform/"],
  "src/platform/": ["test/e2e/platform/"],
  "src/providers/": ["test/providers/"],
  "src/rejections/": ["test/e2e/requests/"],
  "src/responses/": ["test/e2e/responses/"],
  "src/router/": ["test/e2e/serving/"],
  "src/secrets/": ["test/e2e/secrets/"],
  "src/store/": ["test/store/"],
  "src/telemetry/": ["test/e2e/telemetry/"],
  "src/wire/": ["test/e2e/chat/validation.test.ts"],
  "docs/": ["test/docs.test.ts"],
};

/** They look at the whole checkout, and cost little. */
const always = ["test/tidy.test.ts", "test/prose.test.ts"];
/** A change of these can reach everything. */
const global =
  /^(package(-lock)?\.json|tsconfig\.json|scripts\/tests\/|test\/setup\/(harness|use-gateway)\.ts)/;

/** Committed since the branch left `ref`, or not committed yet. */
export function changedSince(ref: string): readonly string[] {
  const git = (...words: string[]): readonly string[] => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...words], { cwd: root });
    if (exitCode !== 0) giveUp(`git ${words.join(" ")} failed: ${stderr.toString().trim()}`);
    return stdout.toString().split("\n").filter(Boolean);
  };
  const [base = "HEAD"] = git("merge-base", ref, "HEAD");
  const changed = git("diff", "--name-only", "--no-renames", base);
  return [...new Set([...changed, ...git("ls-files", "--others", "--exclude-standard")])];
}

/** Of these test files, those that a change of these paths can reach. */
export function reachedBy(
  changed: readonly string[],
  testFiles: readonly string[],
): readonly string[] {
  if (changed.some((path) => global.test(path))) return testFiles;
  const isSupportChanged = changed.some((path) => path.startsWith("test/"));
  const isWall = (path: string) =>
    walls.test(path) && !changed.includes(path) && !(isSupportChanged && path.startsWith("test/"));
  const users = readUsers();
  const isCode = (path: string) => /\.(ts|tsx|mjs)$/.test(path);
  // Data is often read by the name of its folder, or by the tests beside it.
  const data = changed.filter((path) => !isCode(path));
  const folders = data.map((path) => path.replace(/\/?[^/]*$/, ""));
  const reached = new Set([...changed, ...folders]);
  const queue = [...reached];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (isWall(path)) continue;
    for (const user of users.get(path) ?? []) {
      if (reached.has(user)) continue;
      reached.add(user);
      queue.push(user);
    }
  }
  const owned = Object.keys(owners)
    .filter((folder) => changed.some((path) => path.startsWith(folder)))
    .flatMap((folder) => owners[folder] ?? []);
  const besideData = folders.filter((folder) => /^(test|engine|console)\//.test(folder));
  return testFiles.filter(
    (file) =>
      reached.has(file) ||
      always.includes(file) ||
      [...owned, ...besideData].some((prefix) => file.startsWith(prefix)),
  );
}
