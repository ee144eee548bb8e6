// Bun in an installed package, wherever the package manager has put it.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { giveUp, underLock } from "./install.mjs";

/**
 * Many package managers run no install scripts, so that Bun's own file is only a placeholder. Its
 * platform package then has the program. Without that one, Bun's install script downloads it.
 */
export function packagedBun(root) {
  const folder = findUp("bun", root);
  if (folder === undefined)
    giveUp(
      `The package bun is missing beside ${root}. Install svc-gateway again, with its dependencies.`,
    );
  const own = join(folder, "bin", "bun.exe");
  const isWhole = () => existsSync(own) && statSync(own).size > 1_000_000;
  if (isWhole()) return own;
  const shipped = platformPrograms(folder).find(canRun);
  if (shipped !== undefined) return shipped;
  underLock(folder, isWhole, () => {
    const script = join(folder, "install.js");
    const { status } = spawnSync(process.execPath, [script], {
      cwd: folder,
      stdio: ["ignore", 2, 2],
    });
    if (status !== 0 || !isWhole())
      giveUp(
        `Bun could not be installed into ${folder}. Install svc-gateway again without --omit=optional, or run npm rebuild bun.`,
      );
  });
  return own;
}

/** Where Node looks for packages; not by `require.resolve`, which a package can restrict. */
function findUp(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder, "node_modules", name);
    if (existsSync(place)) return realpathSync(place);
    if (folder === dirname(folder)) return undefined;
  }
}

/** Those that the package manager found right for this machine. */
function platformPrograms(bunFolder) {
  const scope = findUp("@oven", bunFolder);
  if (scope === undefined) return [];
  return readdirSync(scope)
    .map((name) => join(scope, name, "bin", "bun"))
    .filter((path) => existsSync(path));
}

function canRun(program) {
  return spawnSync(program, ["--version"], { stdio: "ignore", timeout: 30_000 }).status === 0;
}
