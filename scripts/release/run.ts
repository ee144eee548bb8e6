/**
 * npm run release: checks that this commit can be released, and makes the files of the release. It
 * publishes nothing. `-- --dry-run` only checks, and shows what it would do.
 */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { NotReady, runChecklist, type Step, sourceSteps } from "./checklist.ts";
import { packagesOf } from "./third-party.ts";

const root = join(import.meta.dir, "..", "..");
const { name, version } = packageJson;
const folder = join(root, "release", version);
const tarball = join(folder, `${name}-${version}.tgz`);
const installed = mkdtempSync(join(tmpdir(), "svc-release-"));
const inPackage = (file: string) => join(installed, "node_modules", name, file);
/** The commit whose tests were green last. */
const testedPath = join(root, "node_modules", ".cache", "release-tested");

function run(command: readonly string[], cwd: string, next: string): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...command], { cwd });
  if (exitCode === 0) return stdout.toString().trim();
  const reason = stderr.toString().trim().split("\n").slice(-3).join(" · ");
  throw new NotReady(`"${command.join(" ")}" ended with ${exitCode}: ${reason}`, next);
}

const workingSteps: readonly Step[] = [
  {
    name: "tests",
    work: "run the checks and tests of CI, unless they were green for this commit",
    run() {
      const commit = run(["git", "rev-parse", "HEAD"], root, "Run it in a clone.");
      const tested = existsSync(testedPath) ? readFileSync(testedPath, "utf8") : "";
      if (tested === commit) return "green for this commit";
      const { exitCode } = Bun.spawnSync(["node", "scripts/task.mjs", "ci"], {
        cwd: root,
        stdio: ["ignore", 2, 2],
      });
      if (exitCode !== 0) throw new NotReady("Tests fail.", "Their output is above.");
      mkdirSync(join(testedPath, ".."), { recursive: true });
      writeFileSync(testedPath, commit);
      return "green";
    },
  },
  {
    name: "package",
    work: `run npm pack into release/${version}`,
    run() {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      run(["npm", "pack", "--silent", "--pack-destination", folder], root, "Run npm pack.");
      return tarball;
    },
  },
  {
    name: "installation",
    work: "install the package in an empty folder and run it",
    run() {
      const words = ["install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"];
      run(["npm", ...words, tarball], installed, "Run npm run test:install.");
      const svc = join(installed, "node_modules", ".bin", "svc");
      const found = run([svc, "--version"], installed, "Run npm run test:install.");
      if (found === version) return `svc --version prints ${found}`;
      throw new NotReady(`svc --version prints ${found}.`, "Run npm run test:install.");
    },
  },
  {
    name: "licenses and bill of materials",
    work: "check that the package has them for each dependency",
    run() {
      const notices = readFileSync(inPackage("THIRD-PARTY.txt"), "utf8");
      const bill = readFileSync(inPackage("sbom.cdx.json"), "utf8");
      const used = ["", "console", "engine"].flatMap(packagesOf);
      const missing = used.find(
        (one) =>
          !notices.includes(`${one.name}@${one.version}  `) ||
          !bill.includes(`/${one.name.replace("@", "%40")}@${one.version}"`),
      );
      if (missing !== undefined)
        throw new NotReady(`${missing.name} is missing.`, "Run npm test -- scripts/release.");
      copyFileSync(inPackage("sbom.cdx.json"), join(folder, `${name}-${version}.cdx.json`));
      return `${used.length} packages`;
    },
  },
  {
    name: "checksums",
    work: "write SHA256SUMS",
    run() {
      const files = [`${name}-${version}.tgz`, `${name}-${version}.cdx.json`];
      const sums = files.map((file) => {
        const hash = new Bun.CryptoHasher("sha256").update(readFileSync(join(folder, file)));
        return `${hash.digest("hex")}  ${file}\n`;
      });
      writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
      return join(folder, "SHA256SUMS");
    },
  },
];

const isDryRun = process.argv.includes("--dry-run");
const write = (line: string) => void process.stdout.write(`${line}\n`);
const isReady = await runChecklist([...sourceSteps(root), ...workingSteps], { isDryRun, write });
rmSync(installed, { recursive: true, force: true });
if (isReady && !isDryRun)
  write(
    `Ready. Nothing was published. To publish:\n  git tag v${version} && git push origin v${version}\n  npm publish ${tarball}`,
  );
process.exit(isReady ? 0 : 1);
