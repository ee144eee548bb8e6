import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCommand } from "../place.ts";
import { Problem } from "../problem.ts";

export interface Place {
  readonly host: string;
  readonly port: number;
  /** The setting that holds the port. */
  readonly setting: string;
}

/** Starts a server. If its port is in use, the problem says how to choose another. */
export function listen<T>({ host, port, setting }: Place, start: () => T): T {
  try {
    return start();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code !== "EADDRINUSE")
      throw new Problem({
        code: "failed",
        message: `Cannot listen on ${host}:${port}: ${String(cause)}`,
        cause,
      });
    const other = port + 10 <= 65_535 ? port + 10 : port - 10;
    throw new PortInUse({ port, example: `${setting}=${other}`, cause });
  }
}

interface PortInUseOptions {
  readonly port: number;
  /** A setting that would help. */
  readonly example: string;
  /** What was started. */
  readonly started?: string;
  readonly cause?: unknown;
}

class PortInUse extends Problem {
  readonly #options: PortInUseOptions;

  constructor(options: PortInUseOptions) {
    const { port, example, started = startCommand, cause } = options;
    const message = `Port ${port} is already in use. Choose another one, for example: ${example} ${started}`;
    super({ code: "busy", message, cause });
    this.#options = options;
  }

  after(started: string): PortInUse {
    return new PortInUse({ ...this.#options, started });
  }
}

/** Throws it again; a port that is in use is explained by the command that was started. */
export const startedBy = (command: string) => (error: unknown) => {
  throw error instanceof PortInUse ? error.after(command) : error;
};

/** An address that a caller on this machine can use. */
export function listenerUrl(host: string, port: number, scheme: "http" | "https" = "http"): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `${scheme}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** A socket's path has at most about 100 characters: a deeper data directory gets a short one. */
export function socketPath(dataDir: string, name: string): string {
  const path = join(dataDir, name);
  if (Buffer.byteLength(path) <= 100) return path;
  const digest = new Bun.CryptoHasher("sha256").update(dataDir).digest("hex").slice(0, 16);
  return join(tmpdir(), `svc-${ownUid()}-${digest}`, name);
}

export const ownUid = () => process.getuid?.() ?? 0;
