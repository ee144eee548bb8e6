import type { ResponseOrder } from "./order.ts";

/** Options whose name differs from that in chat completions. */
const renamed: readonly (readonly [RegExp, string])[] = [
  [/^messages$/, "input"],
  [/^response_format\.json_schema\b/, "text.format"],
  [/^response_format\b/, "text.format"],
  [/^reasoning_effort$/, "reasoning.effort"],
  [/^verbosity$/, "text.verbosity"],
  [/^(max_tokens|max_completion_tokens)$/, "max_output_tokens"],
  [/^logprobs$/, "top_logprobs"],
  [/^tool_choice\.function\.name$/, "tool_choice.name"],
];

/** The caller's name for a field of chat completions, which is what adapters report. */
export function toOwnField(param: string, { places, book }: ResponseOrder): string {
  const message = /^messages\[(\d+)\](.*)$/s.exec(param);
  if (message !== null) {
    const [, at = "", rest = ""] = message;
    const place = places[Number(at)];
    if (place === undefined) return "input";
    if (place.field === "previous_response_id") return place.field;
    const call = /^\.tool_calls\[(\d+)\](.*)$/s.exec(rest);
    if (call !== null) {
      const field = place.calls[Number(call[1])] ?? place.field;
      return (call[2] ?? "").endsWith(".arguments") ? `${field}.arguments` : field;
    }
    if (rest === ".tool_call_id") return `${place.field}.call_id`;
    if (!rest.startsWith(".content")) return place.field;
    const inner = rest
      .slice(".content".length)
      .replace(/\.image_url\.url$/, ".image_url")
      .replace(/\.file\.(file_data|filename)$/, ".$1");
    return place.content + inner;
  }
  const tool = /^tools\[(\d+)\](.*)$/s.exec(param);
  if (tool !== null) {
    const field = book.fields[Number(tool[1])];
    return field === undefined ? "tools" : field + (tool[2] ?? "").replace(/^\.function\b/, "");
  }
  for (const [pattern, name] of renamed)
    if (pattern.test(param)) return param.replace(pattern, name);
  return param;
}
