/**
 * Finds places in a source file where a small change should make a test fail, and puts a switch
 * into each chosen one, so that one copy of the sources contains all mutants and a run activates one.
 */

import { parseSync } from "oxc-parser";

export interface Site {
  readonly file: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly original: string;
  readonly mutated: string;
  /** A statement is skipped; an expression is replaced. */
  readonly isStatement: boolean;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [name: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

const otherOperator: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "&&": "||",
  "||": "&&",
};

/** Expressions are found in types as well; these are the wrappers that exist at run time. */
const erasedWrappers = ["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"];
const functions = ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"];

/** Sites inside of functions only: what runs when a module loads cannot be switched for one test. */
export function findSites(file: string, text: string): readonly Site[] {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const sites: Site[] = [];
  const add = (node: Node, mutated: string, isStatement = false) => {
    const { start, end } = node;
    const line = text.slice(0, start).split("\n").length;
    sites.push({
      file,
      line,
      start,
      end,
      original: text.slice(start, end),
      mutated,
      isStatement,
    });
  };
  const visit = (node: Node, isInFunction: boolean): void => {
    if (node.type.startsWith("TS") && !erasedWrappers.includes(node.type)) return;
    if (node.type === "ImportDeclaration") return;
    if (isInFunction) mutate(node, text, add);
    const isInside = isInFunction || functions.includes(node.type);
    for (const [name, child] of Object.entries(node)) {
      // A name is no expression.
      if ((name === "key" || name === "property") && node["computed"] !== true) continue;
      for (const each of Array.isArray(child) ? child : [child])
        if (isNode(each)) visit(each, isInside);
    }
  };
  visit(program as unknown as Node, false);
  return sites;
}

function mutate(
  node: Node,
  text: string,
  add: (node: Node, mutated: string, isStatement?: boolean) => void,
): void {
  const textOf = (part: unknown) =>
    isNode(part) ? text.slice(part.start, part.end) : String(part);
  const operator = String(node["operator"]);
  const other = otherOperator[operator];
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression": {
      const { left, right } = node;
      if (operator === "??") return add(node, textOf(left));
      if (other === undefined) return;
      const isText = [left, right].some((side) => /^["'`]/.test(textOf(side)));
      if (operator === "+" && isText) return;
      return add(node, `(${textOf(left)}) ${other} (${textOf(right)})`);
    }
    case "IfStatement":
      if (isNode(node["test"])) add(node["test"], `!(${textOf(node["test"])})`);
      return;
    case "UnaryExpression":
      if (operator === "!") add(node, `(${textOf(node["argument"])})`);
      return;
    case "Literal":
      if (typeof node["value"] === "boolean") add(node, String(!node["value"]));
      else if (typeof node["value"] === "number") add(node, `(${textOf(node)} + 1)`);
      else if (typeof node["value"] === "bigint") add(node, `(${textOf(node)} + 1n)`);
      return;
    case "ExpressionStatement": {
      const { expression } = node;
      const called =
        isNode(expression) && expression.type === "AwaitExpression"
          ? expression["argument"]
          : expression;
      if (isNode(called) && called.type === "CallExpression" && !textOf(called).startsWith("super"))
        add(node, "", true);
      return;
    }
    default:
  }
}

/** The file with a switch at each of these sites, which must not overlap. */
export function withSwitches(
  text: string,
  sites: readonly { readonly id: number; readonly site: Site }[],
  switchPath: string,
): string {
  let switched = text;
  for (const { id, site } of sites.toSorted((a, b) => b.site.start - a.site.start)) {
    const { start, end, original, mutated, isStatement } = site;
    const replacement = isStatement
      ? `{ if (!isMutant(${id})) { ${original} } }`
      : `(isMutant(${id}) ? ${mutated} : (${original}))`;
    switched = switched.slice(0, start) + replacement + switched.slice(end);
  }
  return `import { isMutant } from ${JSON.stringify(switchPath)};\n${switched}`;
}
