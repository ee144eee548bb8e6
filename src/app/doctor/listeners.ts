import { isLoopback } from "../../base/network/address.ts";
import { listenerUrl } from "../../base/network/listen.ts";
import { schemeOf } from "../../config/addresses.ts";
import type { Configuration } from "../../config/load.ts";
import type { Operations } from "../../platform/operations.ts";
import { isExposed, listenersOf } from "../start-warnings.ts";
import { type Checks, within } from "./checks.ts";

const probeMs = 5_000;

interface Listener {
  readonly what: "gateway" | "platform";
  readonly host: string;
  readonly port: number;
  readonly setting: string;
  readonly scheme: "http" | "https";
}

/** Whether the server answers, or could listen; and who can reach it. */
export async function checkListeners(
  checks: Checks,
  { settings }: Configuration,
  running: Operations | undefined,
): Promise<void> {
  const { host, port, platformHost, platformPort } = settings;
  const scheme = schemeOf(settings);
  const listeners: readonly Listener[] = [
    { what: "gateway", host, port, setting: "SVC_PORT", scheme },
    {
      what: "platform",
      host: platformHost,
      port: platformPort,
      setting: "SVC_PLATFORM_PORT",
      scheme,
    },
  ];
  if (running === undefined) checks.skipped("No server runs on this data directory");
  const isDrained = running !== undefined && (await isOwnNodeDrained(running, settings.node));
  await checks.sideBySide(
    listeners.map((listener) => (own) => {
      if (running === undefined) return checkFree(own, listener);
      if (isDrained && listener.what === "gateway")
        return own.warning(
          `The gateway takes no new calls, because node ${settings.node} is drained.`,
          `svc nodes resume ${settings.node}`,
        );
      return checkAnswer(own, listener);
    }),
  );
  checkExposure(checks, { settings });
}

async function isOwnNodeDrained(running: Operations, node: string): Promise<boolean> {
  const { nodes } = await running.nodes.list({});
  return nodes.some(({ machine, is_draining: isDraining }) => machine === node && isDraining);
}

async function checkAnswer(checks: Checks, { what, host, port, scheme }: Listener): Promise<void> {
  const url = `${listenerUrl(host, port, scheme)}/healthz`;
  try {
    const { status } = await within(
      probeMs,
      url,
      // The certificate is for another name than this address.
      fetch(url, { redirect: "manual", tls: { rejectUnauthorized: false } }),
    );
    if (status === 200) checks.ok(`The ${what} responds at ${host}:${port}`);
    else checks.problem(`The ${what} responds with ${status} at ${url}.`, "See its log.");
  } catch {
    checks.warning(
      `The ${what} does not respond at ${url}, although a server runs on this data directory.`,
      "If it was started with other settings, run this command with the same ones. Otherwise see its log.",
    );
  }
}

async function checkFree(checks: Checks, listener: Listener): Promise<void> {
  const { what, host, port, setting } = listener;
  if (port === 0) return checks.ok(`The ${what} takes any free port`);
  try {
    const socket = Bun.listen({ hostname: host, port, socket: { data() {} } });
    socket.stop(true);
    checks.ok(`Port ${port} on ${host} is free for the ${what}`);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE")
      checks.problem(
        `Port ${port} of the ${what} is in use by another program.`,
        `Stop that program, or set ${setting} to another port.`,
      );
    else if (code === "EACCES")
      checks.problem(
        `This user may not listen on port ${port}.`,
        `Set ${setting} to a port above 1023, or give the program the right (AmbientCapabilities=CAP_NET_BIND_SERVICE in a systemd unit).`,
      );
    else
      checks.problem(
        `The ${what} cannot listen on ${host}:${port}.`,
        "The address must be one of this machine. 0.0.0.0 stands for all of them.",
      );
  }
}

/** Keys and passwords that cross a network in the clear can be read on the way. */
function checkExposure(checks: Checks, { settings }: Pick<Configuration, "settings">): void {
  const { platformHost, platformUrl, trustedProxies, corsOrigins } = settings;
  for (const listener of listenersOf(settings)) {
    const { what, host, url, setting } = listener;
    if (isExposed(listener, settings))
      checks.warning(
        `The ${what} listens on ${host} without TLS, so keys and passwords cross the network in the clear.`,
        `Set SVC_TLS_CERT and SVC_TLS_KEY, or put a proxy with TLS in front and set ${setting} to its https address.`,
      );
    if (url?.startsWith("http:") && !isLoopback(new URL(url).hostname))
      checks.warning(`${setting} is an http address: ${url}.`, "Use https.");
  }
  const isProxied =
    platformUrl !== undefined &&
    isLoopback(platformHost) &&
    !isLoopback(new URL(platformUrl).hostname);
  if (isProxied && trustedProxies === undefined)
    checks.warning(
      "The platform is behind a proxy that is not trusted, so all users share the proxy's address in sign-in limits and in the audit log.",
      "Set SVC_TRUSTED_PROXIES to the address from which the proxy connects.",
    );
  if (corsOrigins?.includes("*"))
    checks.warning(
      "Every web page may call the gateway (SVC_CORS_ORIGINS=*).",
      "List the origins of your own pages, unless callers bring keys of their own.",
    );
}
