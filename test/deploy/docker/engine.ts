import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { debianTool } from "../tools.ts";
import { ensureImages } from "./base-images.ts";

export const root = resolve(import.meta.dir, "../../..");
const image = "svc-gateway:0.1.0";
/** An installation with Node, in /build. */
const installed = "svc-gateway:installed";

export interface Ran {
  readonly code: number;
  /** Both outputs. */
  readonly text: string;
}

/** A Docker engine of the tests' own. Its images stay in `.deploy`, so that layers are reused. */
export interface Engine {
  /** Runs the docker command to its end, which may be a failure. */
  run(words: readonly string[], environment?: Record<string, string>): Promise<Ran>;
  /** The output of a docker command that must succeed. */
  docker(words: readonly string[], environment?: Record<string, string>): Promise<string>;
  /** Resolves with the log of a container when it contains the text. */
  logged(container: string, text: string): Promise<string>;
  readonly image: string;
  stop(): Promise<void>;
}

export async function startEngine(): Promise<Engine> {
  const data = join(root, ".deploy/docker");
  mkdirSync(data, { recursive: true });
  // Short, because the path of a socket is bounded.
  const folder = mkdtempSync(join(tmpdir(), "svc-docker-"));
  const host = `unix://${join(folder, "docker.sock")}`;
  const engine = Bun.spawn(
    [
      debianTool("dockerd", "docker.io"),
      `--data-root=${data}`,
      `--exec-root=${join(folder, "exec")}`,
      `--pidfile=${join(folder, "pid")}`,
      `--host=${host}`,
      "--iptables=false",
      "--bridge=none",
      "--oom-score-adjust=0",
    ],
    { stdout: "ignore", stderr: Bun.file(join(folder, "log")) },
  );
  const cli = debianTool("docker", "docker.io");
  // The builder of every version of Docker. The other one is a plugin in newer ones.
  const variables = { ...process.env, DOCKER_HOST: host, DOCKER_BUILDKIT: "0" };
  const run = async (words: readonly string[], environment = {}) => {
    const env = { ...variables, ...environment };
    const child = Bun.spawn([cli, ...words], { env, stdout: "pipe", stderr: "pipe" });
    const [code, out, errors] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code, text: `${out}${errors}` };
  };
  const docker = async (words: readonly string[], environment = {}) => {
    const { code, text } = await run(words, environment);
    if (code !== 0) throw new Error(`docker ${words.join(" ")} failed: ${text}`);
    return text.trim();
  };
  const logged = async (container: string, wanted: string) => {
    const child = Bun.spawn([cli, "logs", "--follow", container], {
      env: variables,
      stdout: "pipe",
      stderr: "ignore",
    });
    let text = "";
    for await (const bytes of child.stdout) {
      text += Buffer.from(bytes).toString();
      if (text.includes(wanted)) break;
    }
    child.kill();
    if (!text.includes(wanted)) throw new Error(`${container} ended without "${wanted}": ${text}`);
    return text;
  };
  const stop = async () => {
    engine.kill();
    await engine.exited;
    // It leaves the mounts of its networks.
    for (const [, path = ""] of readFileSync("/proc/mounts", "utf8").matchAll(/^\S+ (\S+)/gm))
      if (path.startsWith(`${folder}/`)) Bun.spawnSync(["umount", path]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await whenReady(async () => (await run(["version"])).code === 0, engine.exited);
    await ensureImages({ run, docker });
    const build = ["build", "--network=host", "--file", dockerfile];
    await docker([...build, "--tag", installed, "--target=build", root]);
    await docker([...build, "--tag", image, root]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { run, docker, logged, image, stop };
}

export const dockerfile = join(root, "deploy/docker/Dockerfile");

/** Asks again until it is so, or the process has ended. */
async function whenReady(isReady: () => Promise<boolean>, ended: Promise<number>): Promise<void> {
  let code: number | undefined;
  void ended.then((value) => {
    code = value;
  });
  while (!(await isReady()))
    if (code !== undefined) throw new Error(`dockerd ended with ${code}. It needs root.`);
}
