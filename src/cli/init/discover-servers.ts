import { vendors } from "../../catalog/vendors.ts";

export interface DiscoverOptions {
  readonly variable: (name: string) => string | undefined;
  /** The port of the gateway itself, which may be a server's usual one. */
  readonly ownPort: number;
  /** Local ports to look for servers on. Default: the usual ports of the vendors. */
  readonly ports?: readonly number[];
  readonly withinMs?: number;
}

/** A server that answered, with the address for its compatible interface. */
export interface FoundServer {
  /** Empty where it is none that is known. */
  readonly vendor: string;
  readonly baseUrl: string;
  readonly notes: readonly string[];
}

const usualWithinMs = 500;
/** The operator says that it is there; it may be far away, or start with the call. */
const namedWithinMs = 5_000;
/** More than any of these replies has, so that a stranger's page is not read to its end. */
const maxReplyBytes = 2_000_000;
const ollamaPort = 11_434;

/** Asks the usual ports of this machine, all at once, and tells servers apart by what they answer. */
export async function probeServers(options: DiscoverOptions): Promise<readonly FoundServer[]> {
  const { variable, ownPort, withinMs = usualWithinMs } = options;
  const named = ollamaAddress(variable("OLLAMA_HOST") ?? "");
  const origins = [
    ...new Set([
      ...(named === undefined ? [] : [named]),
      ...(options.ports ?? usualPorts()).map((port) => `http://127.0.0.1:${port}`),
    ]),
  ];
  const patienceMs = (origin: string) =>
    origin === named ? Math.max(namedWithinMs, withinMs) : withinMs;
  const found = await Promise.all(origins.map((origin) => probe(origin, patienceMs(origin))));
  return origins.flatMap((origin, at) => {
    const vendor = found[at];
    if (vendor === undefined) return [];
    const isOwnPort = origin === `http://127.0.0.1:${ownPort}`;
    const notes = isOwnPort
      ? [`the gateway also uses port ${ownPort}; set SVC_PORT to another port`]
      : [];
    return [{ vendor, baseUrl: `${origin}/v1`, notes }];
  });
}

const usualPorts = () =>
  vendors
    .filter(({ isLocal }) => isLocal === true)
    .map(({ baseUrl }) => Number(new URL(baseUrl).port));

/** Reads it as Ollama does: host, port or scheme may be missing, and 0.0.0.0 is where it listens. */
function ollamaAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  const hasScheme = /^https?:\/\//.test(trimmed);
  const full = hasScheme
    ? trimmed
    : `http://${trimmed.startsWith(":") ? `127.0.0.1${trimmed}` : trimmed}`;
  if (!URL.canParse(full)) return undefined;
  const url = new URL(full);
  if (/^(0\.0\.0\.0|\[::\]|localhost)$/.test(url.hostname)) url.hostname = "127.0.0.1";
  if (!hasScheme && url.port === "" && !/:80\/?$/.test(trimmed)) url.port = String(ollamaPort);
  return url.origin;
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where it is no JSON object. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

const paths = {
  own: "/healthz",
  llamacpp: "/props",
  lmstudio: "/api/v0/models",
  ollama: "/api/version",
  vllm: "/version",
  models: "/v1/models",
} as const;
type Asked = keyof typeof paths;

/** The vendor's id, empty for a server that is compatible and no more, undefined for none. */
async function probe(origin: string, withinMs: number): Promise<string | undefined> {
  // One limit for all: a port that accepts and says nothing costs no more than this.
  const signal = AbortSignal.timeout(withinMs);
  const asked = Object.keys(paths) as Asked[];
  const replies = await Promise.all(asked.map((name) => ask(`${origin}${paths[name]}`, signal)));
  const reply = (name: Asked) => replies[asked.indexOf(name)];
  const good = (name: Asked) => (reply(name)?.status === 200 ? reply(name)?.body : undefined);
  if (isGateway(reply("own"))) return undefined;
  const models = good("models")?.["data"];
  // llama.cpp also answers in the manner of Ollama, so it is looked for first.
  const isLlama = replies.some((one) => one?.headers.get("server") === "llama.cpp");
  if (isLlama || good("llamacpp")?.["default_generation_settings"] !== undefined) return "llamacpp";
  if (Array.isArray(good("lmstudio")?.["data"])) return "lmstudio";
  if (typeof good("ollama")?.["version"] === "string") return "ollama";
  if (!Array.isArray(models)) return undefined;
  const isVllm = models.some((one: unknown) => isRecord(one) && one["owned_by"] === "vllm");
  return isVllm || typeof good("vllm")?.["version"] === "string" ? "vllm" : "";
}

/** This gateway, or another of its kind, says so by the form of its request ids. */
function isGateway(reply: Reply | undefined): boolean {
  const id = reply?.headers.get("x-request-id") ?? "";
  return reply?.body?.["status"] === "ok" && /^req_[0-9a-f]{32}$/.test(id);
}

async function ask(url: string, signal: AbortSignal): Promise<Reply | undefined> {
  try {
    const response = await fetch(url, { signal, redirect: "manual" });
    const body = parsed(await readText(response));
    return { status: response.status, headers: response.headers, body };
  } catch {
    // Nobody there, no HTTP, or too late: nothing that could be connected.
    return undefined;
  }
}

async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > maxReplyBytes) throw new RangeError("too long");
  }
  return text;
}

function parsed(text: string): Reply["body"] {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
