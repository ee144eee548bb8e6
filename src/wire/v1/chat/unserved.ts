import { Type } from "../../../base/json/type.ts";
import { anyObject, told, unsupported } from "../schema.ts";

/** Fields that would change the answer if they were ignored. */
export const unserved = {
  modalities: Type.Optional(
    Type.Array(
      Type.Enum(["text"], {
        "x-says": '"text". For speech, use POST /v1/audio/speech',
      }),
      {
        ...told("Output types. Only text is supported.", '["text"]'),
      },
    ),
  ),
  functions: Type.Optional(
    Type.Array(anyObject(told("A function.", "omitted. Use tools instead")), {
      maxItems: 0,
      ...told("Not supported. Use tools.", "omitted. Use tools and tool_choice instead"),
    }),
  ),
  function_call: Type.Optional(
    Type.Enum(
      ["none", "auto"],
      told("Not supported. Use tool_choice.", "omitted. Use tool_choice instead"),
    ),
  ),
  web_search_options: unsupported(
    "This API does not support web search; pass your own search tool in tools",
  ),
};
