import { isJsonObject, type Json, type JsonObject } from "../../../call/chat.ts";

/**
 * Sources that a model names, as this format has them. `encrypted_index` is Anthropic's own and
 * required; it is empty for all other vendors.
 */
export function toCitations(annotations: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(annotations)) return [];
  return annotations.filter(isJsonObject).flatMap((annotation) => {
    // Responses have the fields in the annotation itself.
    const { type, url_citation: inner = annotation } = annotation;
    if (type !== "url_citation" || !isJsonObject(inner)) return [];
    const { url, title, content } = inner;
    if (typeof url !== "string") return [];
    return [
      {
        type: "web_search_result_location",
        url,
        title: typeof title === "string" ? title : null,
        cited_text: typeof content === "string" ? content : "",
        encrypted_index: "",
      },
    ];
  });
}

/** Whether it was written by `toCitations`: Anthropic rejects what it has not encrypted. */
export const isForeignCitation = (citation: Json): boolean =>
  isJsonObject(citation) &&
  citation["type"] === "web_search_result_location" &&
  citation["encrypted_index"] === "";
