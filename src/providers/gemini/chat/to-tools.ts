import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";
import { objectsOf } from "../wire.ts";

/** The functions that may be called, and how freely; nothing where there are none. */
export function toTools({ tools, tool_choice: choice }: JsonObject): JsonObject {
  const functionDeclarations = objectsOf(tools).map(toDeclaration);
  if (functionDeclarations.length === 0) return {};
  const functionCallingConfig = toCallingConfig(choice);
  return {
    tools: [{ functionDeclarations }],
    ...(functionCallingConfig === undefined ? {} : { toolConfig: { functionCallingConfig } }),
  };
}

function toDeclaration({ function: given }: JsonObject): JsonObject {
  const { name, description, parameters } = isJsonObject(given) ? given : {};
  return {
    name,
    ...(typeof description === "string" ? { description } : {}),
    ...(isJsonObject(parameters) ? { parametersJsonSchema: parameters } : {}),
  };
}

function toCallingConfig(choice: Json | undefined): JsonObject | undefined {
  switch (choice) {
    case "none":
      return { mode: "NONE" };
    case "auto":
      return { mode: "AUTO" };
    case "required":
      return { mode: "ANY" };
    default: {
      const named = isJsonObject(choice) ? choice["function"] : undefined;
      const name = isJsonObject(named) ? named["name"] : undefined;
      return typeof name === "string" ? { mode: "ANY", allowedFunctionNames: [name] } : undefined;
    }
  }
}
