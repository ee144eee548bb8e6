import { ApiError, type UpstreamRemedy } from "../../base/errors.ts";
import type { Said } from "./error-body.ts";

/** All that is given must hold. */
interface Rule {
  readonly remedy: UpstreamRemedy;
  /** The vendors that answer so. */
  readonly from: string;
  readonly code?: RegExp;
  /** How the vendor's sentence begins, in lower case. */
  readonly opening?: RegExp;
  /** The field that the vendor names. */
  readonly param?: RegExp;
  /** Found anywhere in the sentence: for what is learned only if the remedy helps. */
  readonly anywhere?: RegExp;
}

const rules: readonly Rule[] = [
  {
    remedy: "responses-for-tools",
    from: "openai",
    opening: /^function tools with reasoning_effort are not supported for /,
  },
  {
    remedy: "responses",
    from: "openai azure",
    opening:
      /^(this model is only supported in v1\/responses|this is not a chat model and thus not supported in the v1\/chat\/completions|the chatcompletion operation does not work with the specified model)/,
  },
  { remedy: "no-encrypted-reasoning", from: "openai azure", code: /\binvalid_encrypted_content\b/ },
  {
    remedy: "no-encrypted-reasoning",
    from: "openai azure github",
    opening:
      /^(the encrypted content [\s\S]{0,200}could not be (verified|decrypted)|encrypted content could not be (decrypted|parsed))/,
  },
  {
    remedy: "no-encrypted-reasoning",
    from: "xai",
    opening: /^could not (decrypt the provided encrypted_content|decode the compaction blob)/,
  },
  {
    remedy: "no-reasoning-include",
    from: "openai",
    opening:
      /^(encrypted content is not supported with this model|reasoning input items can only be provided to a reasoning)/,
  },
  { remedy: "no-reasoning-include", from: "openai", param: /^include\b/ },
  // Of organizations that have not been verified.
  { remedy: "no-reasoning-summary", from: "openai", param: /^reasoning\.summary$/ },
  { remedy: "no-cache-control", from: "vllm", param: /\bcache_control\b/ },
  { remedy: "no-cache-control", from: "fireworks zai", anywhere: /\bcache_control\b/ },
];

/** What the words of a refusal say would be served instead. */
export function remedyOf({ code, message, param }: Said): UpstreamRemedy | undefined {
  return rules.find(
    (rule) =>
      (rule.code === undefined || rule.code.test(code)) &&
      (rule.opening === undefined || rule.opening.test(message)) &&
      (rule.param === undefined || rule.param.test(param ?? "")) &&
      (rule.anywhere === undefined || rule.anywhere.test(message)),
  )?.remedy;
}

export const remedyIn = (error: unknown): UpstreamRemedy | undefined =>
  error instanceof ApiError ? error.upstream?.remedy : undefined;
