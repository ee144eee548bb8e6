import { createHash } from "node:crypto";
import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { jsonBytes, otherBytes } from "../other-bytes.ts";
import { fieldError } from "../validate.ts";
import { nativeTools } from "./tools-schema.ts";

/** The caller's tool that a model's call is for. */
export interface KnownTool {
  readonly kind: "function" | "custom" | "tool_search";
  readonly name: string;
  readonly namespace: string | undefined;
}

/** Tools that a vendor runs. They have a separate price, or one not known in advance. */
const billedApart: ReadonlySet<Json | undefined> = new Set([
  "code_interpreter",
  "file_search",
  "image_generation",
  "mcp",
  "programmatic_tool_calling",
  "web_search",
  "web_search_2025_08_26",
  "web_search_preview",
  "web_search_preview_2025_03_11",
]);
const isNative: ReadonlySet<Json | undefined> = new Set(nativeTools);

/** The longest name that all vendors accept. */
const maxNameChars = 64;
const searchName = "tool_search";
/** The fields that a tool's function has. */
const functionFields = new Set(["type", "name", "description", "parameters", "strict"]);
const customFields = new Set(["type", "name", "description"]);
const searchFields = new Set(["type", "description", "parameters"]);
const namespaceFields = new Set(["type", "tools"]);
/** What vendors add to the prompt for a tool of their own. */
const nativeToolTokens = 1_500;

/**
 * The name of a tool for vendors that only have functions. It is the same in every request, because
 * calls in earlier replies use it.
 */
export function toChatName(name: string, namespace: string | undefined): string {
  if (namespace === undefined) return name;
  const whole = `${namespace}__${name}`.replace(/[^A-Za-z0-9_-]/g, "_");
  if (whole.length <= maxNameChars) return whole;
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, 8);
  return `${whole.slice(0, maxNameChars - 9)}_${hash}`;
}

/**
 * The tools of a request as functions, which every model has, and the caller's tool for each function
 * name. Custom tools become functions with one text parameter; namespaces become parts of names.
 */
export class ToolBook {
  readonly functions: JsonObject[] = [];
  /** The fields that the functions came from. */
  readonly fields: string[] = [];
  readonly #known = new Map<string, KnownTool>();
  /** The first field that only a vendor's own models know. */
  nativeField: string | undefined;
  /** Of what no function has, and a vendor that gets the tools reads. */
  nativeBytes = 0;

  /** Refuses what is billed separately. Runs before the schema: its message is clearer. */
  static check(tools: Json | undefined, field: string): void {
    if (!Array.isArray(tools)) return;
    for (const [at, tool] of tools.entries()) {
      if (!isJsonObject(tool)) continue;
      const { type, environment } = tool;
      if (billedApart.has(type))
        throw fieldError(
          `${field}[${at}].type`,
          `must not be "${String(type)}". The vendor bills this tool separately from tokens; pass a function tool of your own instead`,
        );
      const place = isJsonObject(environment) ? environment["type"] : undefined;
      if (type === "shell" && place !== undefined && place !== "local")
        throw fieldError(
          `${field}[${at}].environment.type`,
          'must be "local". The vendor bills its containers separately from tokens',
        );
    }
  }

  add(tools: Json | undefined, field: string): void {
    if (!Array.isArray(tools)) return;
    for (const [at, tool] of tools.entries())
      if (isJsonObject(tool)) this.#add(tool, { field: `${field}[${at}]`, namespace: undefined });
  }

  /** A name that was not declared is a function's: models invent some. */
  find(chatName: string): KnownTool {
    return this.#known.get(chatName) ?? { kind: "function", name: chatName, namespace: undefined };
  }

  /** Only the functions with these names. A vendor that gets the tools reads the others, too. */
  allow(names: ReadonlySet<string>): readonly JsonObject[] {
    const allowed = this.only(names);
    if (allowed.length < this.functions.length) this.nativeBytes += jsonBytes(this.functions);
    return allowed;
  }

  only(names: ReadonlySet<string>): readonly JsonObject[] {
    return this.functions.filter(({ function: called }) =>
      names.has(String(isJsonObject(called) ? called["name"] : "")),
    );
  }

  #add(
    tool: JsonObject,
    { field, namespace }: { readonly field: string; readonly namespace: string | undefined },
  ): void {
    const { type, description, parameters, strict } = tool;
    const name = String(tool["name"]);
    switch (type) {
      case "function":
        this.nativeBytes += otherBytes(tool, functionFields);
        return this.#declare(
          { kind: "function", name, namespace },
          { field, description, parameters, strict },
        );
      case "custom":
        // This includes its format.
        this.nativeBytes += otherBytes(tool, customFields);
        return this.#declare(
          { kind: "custom", name, namespace },
          { field, description: customDescription(tool), parameters: oneText },
        );
      case "namespace":
        this.nativeBytes += otherBytes(tool, namespaceFields);
        for (const [at, inner] of (tool["tools"] as readonly Json[]).entries())
          if (isJsonObject(inner))
            this.#add(inner, { field: `${field}.tools[${at}]`, namespace: name });
        return;
      case "tool_search":
        if (tool["execution"] !== "client") this.nativeField ??= field;
        this.nativeBytes += otherBytes(tool, searchFields);
        return this.#declare(
          { kind: "tool_search", name: searchName, namespace },
          { field, description, parameters },
        );
      default:
        if (!isNative.has(type)) return;
        this.nativeField ??= `${field}.type`;
        this.nativeBytes += nativeToolTokens + jsonBytes(tool);
    }
  }

  #declare(
    tool: KnownTool,
    {
      field,
      description,
      parameters,
      strict,
    }: {
      readonly field: string;
      readonly description: Json | undefined;
      readonly parameters: Json | undefined;
      readonly strict?: Json | undefined;
    },
  ): void {
    const name = toChatName(tool.name, tool.namespace);
    // Each search can find the same tools.
    if (this.#known.has(name)) {
      for (const value of [tool.name, description, parameters])
        if (value !== undefined && value !== null) this.nativeBytes += jsonBytes(value);
      return;
    }
    // In a function, a long name is cut.
    if (tool.namespace !== undefined) this.nativeBytes += jsonBytes(tool.name);
    this.#known.set(name, tool);
    this.fields.push(field);
    this.functions.push({
      type: "function",
      function: {
        name,
        ...(typeof description === "string" ? { description } : {}),
        ...(isJsonObject(parameters) ? { parameters } : {}),
        // Few servers have this field, and false is the default.
        ...(strict === true ? { strict } : {}),
      },
    });
  }
}

const oneText: JsonObject = {
  type: "object",
  properties: { input: { type: "string", description: "The tool's whole input, as plain text." } },
  required: ["input"],
  additionalProperties: false,
};

function customDescription({ description, format }: JsonObject): string {
  const words = typeof description === "string" ? description : "";
  if (!isJsonObject(format) || format["type"] !== "grammar") return words;
  const { syntax, definition } = format;
  return `${words}\n\nThe input must follow this grammar (${String(syntax)}):\n${String(definition)}`.trim();
}

/** A model's input for a custom tool, which it was asked to write as JSON with one text. */
export function toCustomInput(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value) && typeof value["input"] === "string") return value["input"];
  } catch {
    // Some models write the text without the JSON around it.
  }
  return text;
}
