interface Style {
  readonly language: "python" | "typescript";
  readonly indent?: string;
}

/** JSON as the language writes it. */
export function toLiteral(value: unknown, { language, indent = "" }: Style): string {
  const isPython = language === "python";
  if (value === null || value === undefined) return isPython ? "None" : "null";
  if (typeof value === "boolean" && isPython) return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}${isPython ? "    " : "  "}`;
  const style = { language, indent: inner };
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => toLiteral(item, style))
    : Object.entries(value).map(
        ([name, item]) => `${toName(name, isPython)}: ${toLiteral(item, style)}`,
      );
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (items.length === 0) return `${open}${close}`;
  return `${open}\n${items.map((item) => `${inner}${item},`).join("\n")}\n${indent}${close}`;
}

function toName(name: string, isPython: boolean): string {
  return !isPython && /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name);
}
