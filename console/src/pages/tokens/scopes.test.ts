import { describe, expect, test } from "bun:test";
import type { Route } from "../../../../src/platform/http/route.ts";
import { routes } from "../../../../src/platform/routes.ts";
import { areaChoices, presets, withScope } from "./scopes.ts";

const needed = (of: (route: Route) => boolean) =>
  new Set(
    (routes as readonly Route[]).filter(of).flatMap(({ area, name }) => {
      return area === undefined ? [] : [`${area}:${name.startsWith("GET ") ? "read" : "write"}`];
    }),
  );
const offered = (kind: "account" | "operator") =>
  areaChoices[kind].flatMap(({ area, isWritable }) =>
    isWritable ? [`${area}:read`, `${area}:write`] : [`${area}:read`],
  );

describe("the grid of scopes", () => {
  test("offers an account's token every scope that a route of accounts needs", () => {
    const wanted = needed(
      ({ access, name }) => name.includes("/:account") && access !== "operator",
    );
    expect(wanted.size).toBeGreaterThan(2);
    expect([...wanted].filter((scope) => !offered("account").includes(scope))).toEqual([]);
  });

  test("offers an operator's token every scope that any route needs", () => {
    const wanted = needed(({ access }) => access !== "anyone" && access !== "person");
    expect([...wanted].filter((scope) => !offered("operator").includes(scope))).toEqual([]);
  });

  test("has what its presets choose", () => {
    for (const kind of ["account", "operator"] as const)
      for (const { scopes } of presets[kind])
        expect(scopes.filter((scope) => !offered(kind).includes(scope))).toEqual([]);
  });
});

describe("choosing a scope", () => {
  test("to write includes to read, which is not asked for twice", () => {
    expect(withScope(["keys:read"], "keys:write", true)).toEqual(["keys:write"]);
  });

  test("no longer to write leaves reading; no longer to read leaves nothing", () => {
    expect(withScope(["usage:read", "keys:write"], "keys:write", false)).toEqual([
      "usage:read",
      "keys:read",
    ]);
    expect(withScope(["usage:read", "keys:read"], "keys:read", false)).toEqual(["usage:read"]);
  });
});
