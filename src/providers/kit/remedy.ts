import type { UpstreamRemedy } from "../../base/errors.ts";
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
  readonly param?: string;
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
  { remedy: "no-encrypted-reasoning", from: "openai", code: /\binvalid_encrypted_content\b/ },
  {
    remedy: "no-encrypted-reasoning",
    from: "azure",
    opening: /^the encrypted content .{1,200} could not be verified/,
  },
  {
    remedy: "no-reasoning-include",
    from: "openai",
    opening: /^encrypted content is not supported with this model/,
  },
  // Of organizations that have not been verified.
  { remedy: "no-reasoning-summary", from: "openai", param: "reasoning.summary" },
];

/** What the words of a refusal say would be served instead. */
export function remedyOf({ code, message, param }: Said): UpstreamRemedy | undefined {
  return rules.find(
    (rule) =>
      (rule.code === undefined || rule.code.test(code)) &&
      (rule.opening === undefined || rule.opening.test(message)) &&
      (rule.param === undefined || rule.param === param),
  )?.remedy;
}
