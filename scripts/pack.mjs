// What `npm pack` runs first (prepack) and last (postpack): writes the files of the package that the
// repository does not contain.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  bun,
  checkMachine,
  ensureConsoleBuilt,
  ensureConsoleInstalled,
  ensureInstalled,
  giveUp,
  root,
} from "./install.mjs";

const locked = join(root, "locked.json");
const written = ["locked.json", "THIRD-PARTY.txt", "sbom.cdx.json"];
const dist = join(root, "console", "dist");

const steps = {
  prepack() {
    checkMachine();
    ensureInstalled({ withTools: false });
    ensureConsoleInstalled();
    if (!ensureConsoleBuilt()) giveUp("The console build failed. See its output above.");
    leaveOutOldBuilds();
    const script = join(root, "scripts", "release", "third-party.ts");
    if (spawnSync(bun, [script], { cwd: root, stdio: ["ignore", 2, 2] }).status !== 0)
      giveUp("The licenses and the bill of materials were not written. See the output above.");
    writeFileSync(locked, `${JSON.stringify(productionLock(), null, 2)}\n`);
  },
  postpack() {
    for (const name of written) rmSync(join(root, name), { force: true });
    rmSync(join(dist, ".npmignore"), { force: true });
  },
};

const [step] = process.argv.slice(2);
if (!Object.hasOwn(steps, step)) giveUp("Usage: node scripts/pack.mjs prepack | postpack");
steps[step]();

/** A build back stays for open pages of a clone; a package has one. */
function leaveOutOldBuilds() {
  const current = readFileSync(join(dist, "current"), "utf8");
  const others = readdirSync(dist).filter((name) => name !== current && name !== "current");
  writeFileSync(join(dist, ".npmignore"), others.map((name) => `/${name}\n`).join(""));
}

/**
 * The lock file of the package, under a name that npm ignores. As npm-shrinkwrap.json, it would make
 * npm install Bun for every platform, more than a gigabyte.
 */
function productionLock() {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const { devDependencies: _, ...project } = lock.packages[""];
  const kept = Object.entries(lock.packages).filter(([path, { dev }]) => path !== "" && !dev);
  return { ...lock, packages: { "": project, ...Object.fromEntries(kept) } };
}
