import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { $ } from "bun";
import { debianTool } from "../tools.ts";

const kubernetes = "1.34.2";
/** Kubernetes publishes its parts under a number of their own. */
const parts = kubernetes.replace(/^1/, "0");
const folder = resolve(import.meta.dir, "../../../.deploy/kubernetes", kubernetes);

/** A program of Kubernetes, built from its Go module. The first time takes minutes. */
async function tool(name: "kube-apiserver" | "kubectl"): Promise<string> {
  const path = join(folder, name);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const go = debianTool("go", "golang");
  const found = await $`${go} mod download -json k8s.io/kubernetes@v${kubernetes}`
    .cwd(folder)
    .json();
  const local = [...readFileSync(found.GoMod, "utf8").matchAll(/^\t(k8s\.io\/\S+) v0\.0\.0$/gm)];
  const lines = local.map(([, module = ""]) => `replace ${module} => ${module} v${parts}`);
  const head = `module svc\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes v${kubernetes}\n`;
  writeFileSync(join(folder, "go.mod"), `${head}${lines.join("\n")}\n`);
  await $`${go} build -mod=mod -ldflags ${"-s -w"} -o ${path} k8s.io/kubernetes/cmd/${name}`
    .cwd(folder)
    .quiet();
  return path;
}

export interface Cluster {
  /** Runs kubectl with a manifest at its standard input. */
  kubectl(
    words: readonly string[],
    manifest?: string,
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  stop(): Promise<void>;
}

function freePort(): number {
  const server = Bun.serve({ port: 0, fetch: () => new Response() });
  const { port = 0 } = server;
  void server.stop(true);
  return port;
}

/** The API server of Kubernetes with its database: it checks everything and runs nothing. */
export async function startCluster(): Promise<Cluster> {
  const [server, client] = [await tool("kube-apiserver"), await tool("kubectl")];
  const etcd = debianTool("etcd", "etcd-server");
  const home = mkdtempSync(join(tmpdir(), "svc-cluster-"));
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  writeFileSync(join(home, "key.pem"), privateKey.export({ type: "pkcs1", format: "pem" }));
  writeFileSync(join(home, "tokens.csv"), "token-of-the-test,admin,1,system:masters\n");
  const [port, database, peers] = [freePort(), freePort(), freePort()];
  const start = (command: readonly string[], name: string) =>
    Bun.spawn([...command], { cwd: home, stdout: "ignore", stderr: Bun.file(join(home, name)) });
  const url = `http://127.0.0.1:${database}`;
  const processes = [
    start(
      [
        etcd,
        `--data-dir=${join(home, "etcd")}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=http://127.0.0.1:${peers}`,
        `--initial-advertise-peer-urls=http://127.0.0.1:${peers}`,
        `--initial-cluster=default=http://127.0.0.1:${peers}`,
      ],
      "etcd.log",
    ),
    start(
      [
        server,
        `--etcd-servers=${url}`,
        "--bind-address=127.0.0.1",
        `--secure-port=${port}`,
        "--cert-dir=certificates",
        "--token-auth-file=tokens.csv",
        "--authorization-mode=AlwaysAllow",
        "--service-account-issuer=https://svc.test",
        "--service-account-key-file=key.pem",
        "--service-account-signing-key-file=key.pem",
        "--service-cluster-ip-range=10.0.0.0/24",
        // Nothing creates the accounts that it asks for.
        "--disable-admission-plugins=ServiceAccount",
      ],
      "server.log",
    ),
  ];
  const kubectl = async (words: readonly string[], manifest = "") => {
    const address = [`--server=https://127.0.0.1:${port}`, "--insecure-skip-tls-verify"];
    const child = Bun.spawn([client, ...address, "--token=token-of-the-test", ...words], {
      stdin: Buffer.from(manifest),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [code, stdout, stderr] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code, stdout, stderr };
  };
  const stop = async () => {
    for (const one of processes.toReversed()) {
      one.kill();
      await one.exited;
    }
    rmSync(home, { recursive: true, force: true });
  };
  while ((await kubectl(["get", "--raw=/readyz"])).code !== 0) {
    if (processes.every(({ exitCode }) => exitCode === null)) continue;
    const log = readFileSync(join(home, "server.log"), "utf8").slice(-2_000);
    await stop();
    throw new Error(`The API server ended: ${log}`);
  }
  return { kubectl, stop };
}
