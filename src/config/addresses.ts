import { listenerUrl } from "../base/network/listen.ts";
import type { Settings } from "./settings.ts";

type Listening = Pick<Settings, "host" | "platformHost" | "tlsCert">;

/** With SVC_TLS_CERT, both listeners speak TLS only. */
export const schemeOf = ({ tlsCert }: Listening) => (tlsCert === undefined ? "http" : "https");

/** Where a caller on this machine reaches the gateway; without /v1. */
export const ownGatewayUrl = (settings: Listening, port: number) =>
  listenerUrl(settings.host, port, schemeOf(settings));

/** Where a browser on this machine reaches the platform. */
export const ownPlatformUrl = (settings: Listening, port: number) =>
  listenerUrl(settings.platformHost, port, schemeOf(settings));

/** The same by a name, which passkeys need. */
export const localhostPlatformUrl = (settings: Listening, port: number) =>
  `${schemeOf(settings)}://localhost:${port}`;
