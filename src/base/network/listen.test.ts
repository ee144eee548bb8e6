import { expect, test } from "bun:test";
import { Problem } from "../problem.ts";
import { listen } from "./listen.ts";

function problemOf(port: number, code: string): Problem {
  try {
    listen({ host: "127.0.0.1", port, setting: "SVC_PORT" }, () => {
      throw Object.assign(new Error("cannot"), { code });
    });
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("it listened");
}

test("a taken port is told with a command that proposes another valid one", () => {
  for (const [port, other] of [
    [8080, 8090],
    [65_525, 65_535],
    [65_526, 65_516],
    [65_535, 65_525],
  ] as const) {
    const { code, message } = problemOf(port, "EADDRINUSE");
    expect(code).toBe("busy");
    expect(message).toBe(
      `Port ${port} is already in use. Choose another one, for example: SVC_PORT=${other} npm start`,
    );
  }
});

test("any other failure to listen names the place", () => {
  const { code, message } = problemOf(80, "EACCES");
  expect(code).toBe("failed");
  expect(message).toContain("127.0.0.1:80");
});
