import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * The programs that these tests need beside npm packages. Those of Debian are installed by hand;
 * those of Go and Python are built once, into `.deploy` of the checkout.
 */
export const deployFolder = join(import.meta.dir, "../../.deploy");

/** The path of a program that Debian's package of the same name installs. */
export function debianTool(name: string, debianPackage = name): string {
  const path = Bun.which(name) ?? (existsSync(`/usr/sbin/${name}`) ? `/usr/sbin/${name}` : null);
  if (path !== null) return path;
  throw new Error(
    `${name} is not installed. Run "apt-get install ${debianPackage}", and then the test again.`,
  );
}

/**
 * The path of a program of a Go module, such as `helm.sh/helm/v3/cmd/helm@v3.16.0`. It is built in a
 * module of its own, because "go install" refuses modules with replacements.
 */
export function goTool(program: string, name = program.split("@")[0]?.split("/").at(-1)): string {
  const folder = join(deployFolder, "go", program.replaceAll(/[^A-Za-z0-9.]/g, "-"));
  const path = join(folder, name ?? program);
  if (existsSync(path)) return path;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const go = debianTool("go", "golang");
  const [source = program] = program.split("@");
  runOrThrow([go, "mod", "init", "tool"], {}, folder);
  runOrThrow([go, "get", program], {}, folder);
  runOrThrow([go, "build", "-o", path, source], {}, folder);
  return path;
}

/** The path of a program of a Python package, such as `moto[server]==5.0.0`. */
export function pythonTool(requirement: string, program: string): string {
  const environment = join(deployFolder, "python", requirement.replaceAll(/[^A-Za-z0-9.]/g, "-"));
  const path = join(environment, "bin", program);
  if (existsSync(path)) return path;
  runOrThrow([debianTool("python3"), "-m", "venv", environment]);
  runOrThrow([join(environment, "bin", "pip"), "install", "--quiet", requirement]);
  return path;
}

export function runOrThrow(
  command: readonly string[],
  variables: Record<string, string> = {},
  cwd = process.cwd(),
): void {
  const { exitCode, stderr } = Bun.spawnSync([...command], {
    cwd,
    env: { ...process.env, ...variables },
  });
  if (exitCode !== 0) throw new Error(`"${command.join(" ")}" failed: ${stderr.toString()}`);
}
