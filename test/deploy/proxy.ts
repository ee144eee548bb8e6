import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { connect as connectTls } from "node:tls";
import { createCertificate } from "../fake/certificate.ts";
import { waitUntil } from "../setup/money-home.ts";
import { debianTool } from "./tools.ts";

export const hosts = { gateway: "models.example.com", platform: "console.example.com" } as const;
export type Host = keyof typeof hosts;

/** Where everything listens; the committed files have 443, 80, 8080 and 8081. */
export interface Ports {
  readonly https: string;
  readonly http: string;
  readonly gateway: string;
  readonly platform: string;
  /** Of Caddy's own interface. */
  readonly admin: string;
}

/** All at once: a port that was free a moment ago can be chosen again. */
export function choosePorts(): Ports {
  const next = () => Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const probes = {
    https: next(),
    http: next(),
    gateway: next(),
    platform: next(),
    admin: next(),
  };
  for (const probe of Object.values(probes)) probe.stop(true);
  const { https, http, gateway, platform, admin } = probes;
  return {
    https: String(https.port),
    http: String(http.port),
    gateway: String(gateway.port),
    platform: String(platform.port),
    admin: String(admin.port),
  };
}

export interface Proxy {
  readonly authority: string;
  stop(): Promise<void>;
}

/** Where the files are. */
export const committed = resolve(import.meta.dir, "../../deploy");

export type ProxyKind = "nginx" | "caddy" | "haproxy";

/** As docs/deploy/proxies.md lists a second gateway. */
const withSecond: Readonly<Record<ProxyKind, (text: string, port: string) => string>> = {
  nginx: (text, port) =>
    text.replace(/^( *server )127\.0\.0\.1:\d+;$/m, `$&\n$1127.0.0.1:${port};`),
  caddy: (text, port) =>
    text
      .replace(/^\treverse_proxy 127\.0\.0\.1:\d+/m, `$& 127.0.0.1:${port}`)
      .replace(
        /^\treverse_proxy .*\{$/m,
        "$&\n\t\tlb_try_duration 5s\n\t\thealth_uri /readyz\n\t\thealth_interval 2s",
      ),
  haproxy: (text, port) =>
    text.replace(/^( *server gateway)1 127.*$/m, `$&\n$12 127.0.0.1:${port}`),
};

/** Runs the committed file, with only its ports and paths replaced, and with a second gateway. */
export async function startProxy(kind: ProxyKind, ports: Ports, second?: string): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), `svc-${kind}-`));
  const authority = createCertificate({ name: "authority.example", isAuthority: true });
  const [gateway, platform] = [hosts.gateway, hosts.platform].map((name) => {
    const one = createCertificate({ name, issuer: authority });
    writeFileSync(join(folder, `${name}.pem`), one.cert + authority.cert);
    writeFileSync(join(folder, `${name}.key`), one.key);
    writeFileSync(join(folder, `${name}.both`), one.cert + authority.cert + one.key);
    return one;
  });
  if (gateway === undefined || platform === undefined) throw new Error("no certificates");
  const complete = (text: string) => (second === undefined ? text : withSecond[kind](text, second));
  const command = { nginx, caddy, haproxy }[kind]({ folder, ports, complete });
  const child = Bun.spawn([...command], {
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_DATA_HOME: folder },
    stdout: Bun.file(join(folder, "output")),
    stderr: Bun.file(join(folder, "errors")),
  });
  const isUp = async () => {
    if (child.exitCode !== null) throw new Error(readFileSync(join(folder, "errors"), "utf8"));
    return fetch(`https://127.0.0.1:${ports.https}/`, {
      headers: { host: hosts.gateway },
      tls: { ca: authority.cert, serverName: hosts.gateway },
    }).then(
      () => true,
      () => false,
    );
  };
  await waitUntil(`${kind} on port ${ports.https}`, isUp);
  return {
    authority: authority.cert,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
      rmSync(folder, { recursive: true });
    },
  };
}

/** Each name gets a file of its own: the fake certificates have one name. */
function withCertificates(text: string, folder: string): string {
  let name = "";
  return text
    .split("\n")
    .map((line) => {
      name = /(models|console)\.example\.com/.exec(line)?.[0] ?? name;
      return line
        .replaceAll("/etc/svc/tls/fullchain.pem", join(folder, `${name}.pem`))
        .replaceAll("/etc/svc/tls/privkey.pem", join(folder, `${name}.key`));
    })
    .join("\n");
}

interface ProxyOptions {
  readonly folder: string;
  readonly ports: Ports;
  readonly complete: (text: string) => string;
}

function nginx({ folder, ports, complete }: ProxyOptions): readonly string[] {
  const text = readFileSync(join(committed, "nginx/svc.conf"), "utf8")
    .replaceAll("listen 443 ", `listen 127.0.0.1:${ports.https} `)
    .replaceAll("listen 80;", `listen 127.0.0.1:${ports.http};`)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${ports.gateway}`)
    .replaceAll("127.0.0.1:8081", `127.0.0.1:${ports.platform}`);
  writeFileSync(join(folder, "svc.conf"), withCertificates(complete(text), folder));
  mkdirSync(join(folder, "temp"));
  // What a distribution's nginx.conf has around the file.
  const temps = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, "temp", name)};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off;
    ${process.getuid?.() === 0 ? "user root;" : ""}
    pid ${join(folder, "pid")};
    events { worker_connections 256; }
    http { access_log off; ${temps.join(" ")} include ${join(folder, "svc.conf")}; }`,
  );
  return [debianTool("nginx"), "-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")];
}

function haproxy({ folder, ports, complete }: ProxyOptions): readonly string[] {
  const text = readFileSync(join(committed, "haproxy/haproxy.cfg"), "utf8")
    .replace("bind :443 ", `bind 127.0.0.1:${ports.https} `)
    .replace("bind :80", `bind 127.0.0.1:${ports.http}`)
    .replace("/etc/svc/tls/models.pem", join(folder, `${hosts.gateway}.both`))
    .replace("/etc/svc/tls/console.pem", join(folder, `${hosts.platform}.both`))
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${ports.gateway}`)
    .replaceAll("127.0.0.1:8081", `127.0.0.1:${ports.platform}`);
  writeFileSync(join(folder, "haproxy.cfg"), complete(text));
  return [debianTool("haproxy"), "-db", "-f", join(folder, "haproxy.cfg")];
}

function caddy({ folder, ports, complete }: ProxyOptions): readonly string[] {
  const text = readFileSync(join(committed, "caddy/Caddyfile"), "utf8")
    .replace("https_port 443", `https_port ${ports.https}`)
    .replace("http_port 80", `http_port ${ports.http}`)
    .replace("admin localhost:2019", `admin localhost:${ports.admin}`)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${ports.gateway}`)
    .replaceAll("127.0.0.1:8081", `127.0.0.1:${ports.platform}`);
  const path = join(folder, "Caddyfile");
  writeFileSync(path, withCertificates(complete(text), folder));
  return [debianTool("caddy"), "run", "--config", path, "--adapter", "caddyfile"];
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** As it arrives. */
  readonly body: AsyncGenerator<string, void, undefined>;
  text(): Promise<string>;
  /** Gives the stream up, as a client that is killed. */
  abandon(): void;
}

interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Where its clients are: not where the proxy is. */
export const clientAddress = "127.0.0.2";

/** A browser or an SDK on another address than the proxy: 127.0.0.2. */
export class Http2Client {
  readonly #session: ClientHttp2Session;

  constructor(host: Host, { https }: Ports, authority: Proxy["authority"]) {
    const servername = hosts[host];
    const options = {
      host: "127.0.0.1",
      port: Number(https),
      localAddress: clientAddress,
      servername,
      ca: authority,
      ALPNProtocols: ["h2"],
    };
    this.#session = connectHttp2(`https://${servername}:${https}`, {
      createConnection: () => connectTls(options),
    });
    this.#session.on("error", () => {});
  }

  get protocol(): string | undefined {
    return this.#session.alpnProtocol;
  }

  async ask(
    path: string,
    { method = "GET", headers = {}, body }: AskOptions = {},
  ): Promise<Answer> {
    const request = this.#session.request({ ":method": method, ":path": path, ...headers });
    const answered = Promise.withResolvers<Record<string, unknown>>();
    request.once("response", (answer) => answered.resolve({ ...answer }));
    request.on("error", (error) => answered.reject(error));
    request.end(body);
    const answer = await answered.promise;
    request.setEncoding("utf8");
    const pieces = (async function* () {
      for await (const piece of request) yield String(piece);
    })();
    return {
      status: Number(answer[":status"]),
      headers: answer,
      body: pieces,
      async text() {
        let text = "";
        for await (const piece of pieces) text += piece;
        return text;
      },
      abandon: () => this.#session.destroy(),
    };
  }

  close(): void {
    this.#session.destroy();
  }
}
