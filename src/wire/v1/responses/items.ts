import type { TSchema } from "typebox";
import { Type } from "../../../base/json/type.ts";
import { named, nullable, nullableText, tagged, text, told } from "../schema.ts";
import { toolList } from "./tools-schema.ts";

/** The items of `input`. Fields that are not listed here never fail a request. */
const id = nullableText("Id of the item, as a reply named it.");
const callId = text("Id of the call.");
const namespace = nullableText("Namespace of the tool, where it has one.");

const inputText = Type.Object(
  { type: Type.Literal("input_text"), text: text("The text.") },
  named("ResponseInputText", "A text part."),
);
const inputImage = Type.Object(
  {
    type: Type.Literal("input_image"),
    image_url: nullableText("An http(s) URL or a data URI."),
    detail: Type.Optional(
      nullable(
        Type.Enum(["auto", "low", "high", "original"]),
        told("Level of detail.", '"auto", "low", "high" or "original"'),
      ),
    ),
  },
  named("ResponseInputImage", "An image, for models that accept images."),
);
const inputFile = Type.Object(
  {
    type: Type.Literal("input_file"),
    file_data: Type.Optional(
      nullable(
        Type.String({
          pattern: "^[dD][aA][tT][aA]:",
          "x-says": "a data URI such as data:application/pdf;base64,…",
        }),
        told(
          "A data URI such as data:application/pdf;base64,….",
          "a data URI such as data:application/pdf;base64,…",
        ),
      ),
    ),
    file_url: nullableText("URL of a file, for vendors that fetch files."),
    filename: nullableText("File name."),
  },
  named("ResponseInputFile", "A file, for models that accept files."),
);
const outputText = Type.Object(
  { type: Type.Literal("output_text"), text: text("The text.") },
  named("ResponseOutputText", "Text of an earlier reply."),
);
const refusal = Type.Object(
  { type: Type.Literal("refusal"), refusal: text("The refusal text.") },
  named("ResponseRefusal", "A refusal from an earlier reply."),
);

const content = (parts: TSchema[], kinds: string) =>
  Type.Union(
    [
      Type.String(),
      Type.Array(
        tagged("type", parts, { "x-tag": `one of: ${kinds}`, "x-says": "an object with a type" }),
        { "x-says": "a list of content parts" },
      ),
    ],
    told(`Text, or content parts: ${kinds}.`, `text, or a list of content parts (${kinds})`),
  );

const message = Type.Object(
  {
    type: Type.Literal("message"),
    role: Type.Enum(
      ["user", "assistant", "system", "developer"],
      told("Who wrote it.", "one of: user, assistant, system, developer"),
    ),
    content: content(
      [inputText, inputImage, inputFile, outputText, refusal],
      "input_text, input_image, input_file, output_text, refusal",
    ),
    id,
  },
  named("ResponseMessage", "A message. `type` can be omitted."),
);

const output = content([inputText, inputImage, inputFile], "input_text, input_image, input_file");

const functionCall = Type.Object(
  {
    type: Type.Literal("function_call"),
    call_id: callId,
    name: text("Name of the function."),
    namespace,
    arguments: text("Arguments as JSON text, as written by the model."),
    id,
  },
  named("ResponseFunctionCall", "A function call made by the model."),
);
const functionCallOutput = Type.Object(
  { type: Type.Literal("function_call_output"), call_id: callId, output, id },
  named("ResponseFunctionCallOutput", "The result of a function call."),
);
const customToolCall = Type.Object(
  {
    type: Type.Literal("custom_tool_call"),
    call_id: callId,
    name: text("Name of the tool."),
    namespace,
    input: text("What the model wrote for the tool."),
    id,
  },
  named("ResponseCustomToolCall", "A call of a custom tool made by the model."),
);
const customToolCallOutput = Type.Object(
  { type: Type.Literal("custom_tool_call_output"), call_id: callId, output, id },
  named("ResponseCustomToolCallOutput", "The result of a custom tool call."),
);
const toolSearchCall = Type.Object(
  {
    type: Type.Literal("tool_search_call"),
    call_id: nullableText("Id of the call."),
    arguments: Type.Optional(Type.Unknown({ description: "What the model searches for." })),
    id,
  },
  named("ResponseToolSearchCall", "A search for tools made by the model."),
);
const toolSearchOutput = Type.Object(
  {
    type: Type.Literal("tool_search_output"),
    call_id: nullableText("Id of the call."),
    tools: toolList("The tools that were found. The model can call them from then on."),
    id,
  },
  named("ResponseToolSearchOutput", "The tools that a search found."),
);
const additionalTools = Type.Object(
  {
    type: Type.Literal("additional_tools"),
    tools: toolList("Tools that the model can call, beside those of the request."),
    id,
  },
  named("ResponseAdditionalTools", "More tools."),
);

const summaryPart = Type.Object(
  { text: text("The text.") },
  { "x-says": "an object with a text", additionalProperties: true },
);
const reasoning = Type.Object(
  {
    type: Type.Literal("reasoning"),
    summary: Type.Optional(
      nullable(
        Type.Array(summaryPart, { "x-says": "a list of texts" }),
        told("Summary of the model's reasoning.", "a list of texts"),
      ),
    ),
    content: Type.Optional(
      nullable(
        Type.Array(summaryPart, { "x-says": "a list of texts" }),
        told("The reasoning itself, from models that show it.", "a list of texts"),
      ),
    ),
    encrypted_content: nullableText("What the vendor wants back, unchanged."),
    id,
  },
  named("ResponseReasoning", "Reasoning of an earlier reply."),
);
const reference = Type.Object(
  { type: Type.Literal("item_reference"), id: text("Id of an item of a stored response.") },
  named("ResponseItemReference", "Stands for an item of a stored response."),
);

/** Items of tools that only the vendor's own models have: no other model gets them. */
export const nativeItems = [
  "apply_patch_call",
  "apply_patch_call_output",
  "code_interpreter_call",
  "compaction",
  "computer_call",
  "computer_call_output",
  "file_search_call",
  "image_generation_call",
  "local_shell_call",
  "local_shell_call_output",
  "mcp_approval_request",
  "mcp_approval_response",
  "mcp_call",
  "mcp_list_tools",
  "shell_call",
  "shell_call_output",
  "web_search_call",
] as const;

const native = Type.Object(
  {
    type: Type.Enum([...nativeItems], told("Kind of the item.")),
    id,
  },
  named("ResponseVendorItem", "An item of a tool that only some vendors have."),
);

const kinds =
  "message, function_call, function_call_output, custom_tool_call, custom_tool_call_output, " +
  "reasoning, item_reference, tool_search_call, tool_search_output, additional_tools, or an item " +
  "of a vendor's built-in tool";

const item = tagged(
  "type",
  [
    message,
    functionCall,
    functionCallOutput,
    customToolCall,
    customToolCallOutput,
    reasoning,
    reference,
    toolSearchCall,
    toolSearchOutput,
    additionalTools,
    native,
  ],
  {
    ...named("ResponseInputItem", "An item of the conversation."),
    "x-tag": `one of: ${kinds}`,
    "x-says": "an object with a type",
  },
);

export const input = Type.Union(
  [
    Type.String(),
    Type.Array(item, { minItems: 1, "x-says": "text, or a list of at least one item" }),
  ],
  told("The conversation: text, or a list of items.", "text, or a list of at least one item"),
);

/** `additionalProperties` is explicit: without it, code generators produce an empty object. */
export const metadata = Type.Optional(
  Type.Object(
    {},
    {
      additionalProperties: Type.String({ "x-says": "a string" }),
      ...told("Your own key-value pairs. They are returned.", "an object of strings"),
    },
  ),
);
