import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What this machine lacks, each with the way to get it. */
export interface Machine {
  /** The command that starts Python; undefined if it was not asked for or is missing. */
  readonly python: string | undefined;
  readonly pythonVersion: string;
  readonly go: string | undefined;
  readonly goVersion: string;
  readonly missing: readonly string[];
}

const leastPython = { major: 3, minor: 10 };
export const goFolder = join(import.meta.dir, "..", "go");
/** The client itself decides which Go is new enough. */
const leastGo = /^go (\d+)\.(\d+)/m.exec(readFileSync(join(goFolder, "go.mod"), "utf8"));
const leastGoText = `${leastGo?.[1]}.${leastGo?.[2]}`;

export function needsOf(wanted: Wanted): readonly string[] {
  const { major, minor } = leastPython;
  return [
    ...(wanted.python
      ? [`python3 >= ${major}.${minor} with venv, and a package index that pip reaches`]
      : []),
    ...(wanted.go ? [`Go >= ${leastGoText}, and a module proxy that go reaches`] : []),
    ...(wanted.agents === true ? ["npm, and a registry that it reaches (about 1 GB)"] : []),
    ...(wanted.python || wanted.go
      ? ["the weights of the embedded models (fetched once, shared with the other tests)"]
      : []),
  ];
}

interface Wanted {
  readonly python: boolean;
  readonly go: boolean;
  readonly agents?: boolean;
}

export function lookAround(wanted: Wanted): Machine {
  const missing: string[] = [];
  const python = wanted.python ? findPython(missing) : undefined;
  const go = wanted.go ? findGo(missing) : undefined;
  return {
    python: python?.command,
    pythonVersion: python?.version ?? "",
    go: go?.command,
    goVersion: go?.version ?? "",
    missing,
  };
}

interface Found {
  readonly command: string;
  readonly version: string;
}

function findPython(missing: string[]): Found | undefined {
  const { major, minor } = leastPython;
  for (const command of ["python3", "python"]) {
    const version = said([command, "-c", "import platform; print(platform.python_version())"]);
    const [, foundMajor, foundMinor] = /^(\d+)\.(\d+)/.exec(version ?? "") ?? [];
    if (version === undefined || foundMajor === undefined) continue;
    if (Number(foundMajor) !== major || Number(foundMinor) < minor) {
      missing.push(
        `Python ${major}.${minor} or newer: this is ${version}. Install a newer python3 with the system's package manager.`,
      );
      return undefined;
    }
    if (said([command, "-c", "import venv, ensurepip"]) === undefined)
      missing.push(
        "Python's venv module: on Debian and Ubuntu, `apt install python3-venv` brings it.",
      );
    return { command, version };
  }
  missing.push(
    `python3, ${major}.${minor} or newer: install it with the system's package manager.`,
  );
  return undefined;
}

function findGo(missing: string[]): Found | undefined {
  // In the module's folder, where Go may switch to the newer toolchain that go.mod asks for.
  const version = said(["go", "env", "GOVERSION"], goFolder);
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  if (version === undefined) {
    missing.push(`Go ${leastGoText} or newer on the PATH: https://go.dev/dl has it.`);
    return undefined;
  }
  const isNewEnough =
    Number(major) > Number(leastGo?.[1]) ||
    (Number(major) === Number(leastGo?.[1]) && Number(minor) >= Number(leastGo?.[2]));
  if (!isNewEnough) {
    missing.push(
      `Go ${leastGoText} or newer: this is ${version}. https://go.dev/dl has it, or allow Go to fetch it with GOTOOLCHAIN=auto.`,
    );
    return undefined;
  }
  return { command: "go", version };
}

/** What a command prints; undefined if it is not there or fails. */
function said(words: readonly string[], folder = import.meta.dir): string | undefined {
  try {
    const { success, stdout } = Bun.spawnSync([...words], { cwd: folder, stderr: "ignore" });
    return success ? stdout.toString().trim() : undefined;
  } catch {
    return undefined;
  }
}
