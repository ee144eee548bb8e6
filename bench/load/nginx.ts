/**
 * nginx as a plain proxy, where it is installed: the least that a proxy can cost. It reads no JSON,
 * so callers must ask for the upstream's own model.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, listening } from "./ports.ts";
import type { Child, Children } from "./processes.ts";

export type Nginx = { readonly child: Child; readonly port: number; readonly version: string };

export function findNginx(): string | undefined {
  const folders = [process.env["PATH"] ?? "", "/usr/sbin", "/usr/local/sbin"].join(":");
  return Bun.which("nginx", { PATH: folders }) ?? undefined;
}

export async function startNginx(options: {
  readonly command: string;
  readonly children: Children;
  readonly dir: string;
  readonly upstreamPort: number;
}): Promise<Nginx> {
  const { command, children, upstreamPort } = options;
  const dir = join(options.dir, "nginx");
  mkdirSync(dir);
  const port = freePort();
  const path = join(dir, "nginx.conf");
  writeFileSync(path, configuration({ dir, port, upstreamPort }));
  const args = ["-p", dir, "-c", path, "-e", "stderr"];
  const child = children.start({ name: "nginx", command, args, talks: false });
  await listening({ child, port, timeoutMs: 10_000 });
  const { stderr } = Bun.spawnSync([command, "-v"]);
  const version = /nginx\/(\S+)/.exec(stderr.toString())?.[1] ?? "unknown";
  return { child, port, version };
}

function configuration(options: {
  readonly dir: string;
  readonly port: number;
  readonly upstreamPort: number;
}): string {
  const { dir, port, upstreamPort } = options;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `daemon off;
worker_processes auto;
pid ${dir}/nginx.pid;
error_log stderr warn;
events { worker_connections 16384; }
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${dir}/${name};`).join("\n")}
  keepalive_timeout 300s;
  keepalive_requests 1000000000;
  client_body_buffer_size 256k;
  upstream model {
    server 127.0.0.1:${upstreamPort};
    keepalive 4096;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://model;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_buffer_size 64k;
      proxy_buffers 8 64k;
    }
  }
}
`;
}
