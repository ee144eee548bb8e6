import type { UpstreamSymptom } from "../../base/errors.ts";
import { speakOptions } from "../../call/speak.ts";
import type { Provider } from "../contract.ts";
import { upstreamError } from "./failure.ts";
import type { SetupFault } from "./setup-fault.ts";

/** For unusable settings: each call fails with the reason, so that other providers still start. */
export function createBroken(options: {
  readonly name: string;
  /** For the log. */
  readonly problem: string;
  readonly symptom?: UpstreamSymptom;
  readonly cause?: SetupFault;
}): Provider {
  const { name, problem, symptom, cause } = options;
  const detail = `${name}: ${problem}`;
  const refuse = () =>
    Promise.reject(
      upstreamError("upstream_unavailable", { detail, reason: "auth", symptom, cause }),
    );
  return {
    name,
    chat: refuse,
    streamChat: refuse,
    embed: refuse,
    speak: refuse,
    transcribe: refuse,
    streamTranscript: refuse,
    speakOptions: () => speakOptions,
    listModels: refuse,
  };
}
