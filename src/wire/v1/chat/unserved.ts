import { Type } from "typebox";
import { anyObject, told } from "../schema.ts";

/** Fields that would change the answer if they were ignored. */
export const unserved = {
  modalities: Type.Optional(
    Type.Array(
      Type.Enum(["text"], {
        "x-says": '"text": answers are text. For speech use POST /v1/audio/speech',
      }),
      {
        ...told("Output types. Only text is supported.", '["text"]'),
      },
    ),
  ),
  functions: Type.Optional(
    Type.Array(anyObject(told("A function.", "left out: use tools")), {
      maxItems: 0,
      ...told("Not supported. Use tools.", "left out: use tools and tool_choice"),
    }),
  ),
  function_call: Type.Optional(
    Type.Enum(
      ["none", "auto"],
      told("Not supported. Use tool_choice.", "left out: use tool_choice"),
    ),
  ),
  web_search_options: Type.Optional(
    Type.Unsafe<null>({
      enum: [null],
      ...told(
        "Not supported.",
        "left out: this API makes no web search. Pass a search tool of your own in tools",
      ),
    }),
  ),
};
