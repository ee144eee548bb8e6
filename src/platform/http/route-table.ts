import { Refused } from "./refusal.ts";
import type { Route } from "./route.ts";

interface Entry {
  readonly route: Route;
  readonly method: string;
  readonly steps: readonly string[];
}

/** Finds the route of a request. Some eighty of them: looked through one by one. */
export class RouteTable {
  readonly #entries: readonly Entry[];

  constructor(routes: readonly Route[]) {
    this.#entries = routes.map((route) => {
      const [method = "", path = ""] = route.name.split(" ");
      return { route, method, steps: path.split("/") };
    });
  }

  find(
    method: string,
    path: string,
  ): { readonly route: Route; readonly params: Readonly<Record<string, string>> } {
    const steps = path.split("/");
    const here = this.#entries.filter((entry) => fits(entry.steps, steps));
    // A step that is spelled out goes before one that stands for anything.
    const wanted = method === "HEAD" ? "GET" : method;
    const entry = here
      .filter((one) => one.method === wanted)
      .toSorted((one, other) => params(one.steps) - params(other.steps))[0];
    if (entry !== undefined) return { route: entry.route, params: read(entry.steps, steps) };
    if (here.length === 0)
      throw new Refused({
        status: 404,
        code: "not_found",
        message: "Unknown path. /api/openapi.json lists all paths.",
      });
    const allow = [...new Set(here.map((one) => one.method))].join(", ");
    throw new Refused({
      status: 405,
      code: "wrong_method",
      message: `This path allows only ${allow}.`,
      headers: { allow },
    });
  }
}

const isParam = (step: string) => step.startsWith(":");
const params = (steps: readonly string[]) => steps.filter(isParam).length;

function fits(pattern: readonly string[], steps: readonly string[]): boolean {
  return (
    pattern.length === steps.length &&
    pattern.every((step, at) => (isParam(step) ? steps[at] !== "" : step === steps[at]))
  );
}

function read(
  pattern: readonly string[],
  steps: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pattern.flatMap((step, at) =>
      isParam(step) ? [[step.slice(1), decode(steps[at] ?? "")] as const] : [],
    ),
  );
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    throw new Refused({
      status: 400,
      code: "invalid",
      message: "The path contains an invalid percent-encoding.",
    });
  }
}
