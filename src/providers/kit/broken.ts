import { speakOptions } from "../../call/speak.ts";
import type { Provider } from "../contract.ts";
import { upstreamError } from "./failure.ts";

/** Settings that no call can be made with: told with each call, so that other providers still start. */
export function createBroken(name: string, problem: string): Provider {
  const detail = `${name}: ${problem}`;
  const refuse = () =>
    Promise.reject(upstreamError("upstream_unavailable", { detail, reason: "auth" }));
  return {
    name,
    chat: refuse,
    streamChat: refuse,
    embed: refuse,
    speak: refuse,
    speakOptions: () => speakOptions,
    listModels: refuse,
  };
}
