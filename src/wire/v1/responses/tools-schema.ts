import { Type } from "../../../base/json/type.ts";
import {
  filled,
  named,
  nullableFlag,
  nullableObject,
  nullableText,
  tagged,
  told,
} from "../schema.ts";

/** The tools of a request, and of items that add tools. */
const toolName = filled("Name of the tool.", "the name of the tool");
const schema = nullableObject("Parameters as a JSON Schema.", "a JSON schema");

const functionTool = Type.Object(
  {
    type: Type.Literal("function"),
    name: toolName,
    description: nullableText("Description of the function, for the model."),
    parameters: schema,
    strict: nullableFlag("Enforces the schema strictly."),
  },
  named("ResponseFunctionTool", "A function that the model can call."),
);
const customTool = Type.Object(
  {
    type: Type.Literal("custom"),
    name: toolName,
    description: nullableText("Description of the tool, for the model."),
    format: nullableObject(
      'What the model writes: {"type":"text"}, or a grammar.',
      "an object with a type",
    ),
  },
  named("ResponseCustomTool", "A tool for which the model writes free text."),
);
const inner = tagged("type", [functionTool, customTool], {
  "x-tag": '"function" or "custom"',
  "x-says": "a function or custom tool",
});
const namespaceTool = Type.Object(
  {
    type: Type.Literal("namespace"),
    name: toolName,
    description: nullableText("Description of the tools, for the model."),
    tools: Type.Array(inner, {
      maxItems: 512,
      ...told("The tools.", "a list of at most 512 function or custom tools"),
    }),
  },
  named("ResponseNamespaceTool", "Tools that belong together."),
);
const toolSearch = Type.Object(
  {
    type: Type.Literal("tool_search"),
    execution: nullableText("Who searches: server or client."),
    description: nullableText("Description of the search, for the model."),
    parameters: schema,
  },
  named("ResponseToolSearchTool", "A search for more tools."),
);

/** Tools that only a vendor's own models have, and the caller runs: they cost only tokens. */
export const nativeTools = [
  "apply_patch",
  "computer",
  "computer_use_preview",
  "local_shell",
  "shell",
] as const;

const nativeTool = Type.Object(
  { type: Type.Enum([...nativeTools], told("Kind of the tool.")) },
  named("ResponseVendorTool", "A built-in tool that only some vendors have."),
);

export const toolList = (description: string) =>
  Type.Array(
    tagged("type", [functionTool, customTool, namespaceTool, toolSearch, nativeTool], {
      ...named("ResponseTool", "A tool that the model can call."),
      "x-tag": `one of: function, custom, namespace, tool_search, ${nativeTools.join(", ")}`,
      "x-says": 'an object such as {"type":"function","name":"…"}',
    }),
    { maxItems: 512, ...told(description, "a list of at most 512 tools") },
  );
