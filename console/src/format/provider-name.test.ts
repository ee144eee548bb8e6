import { expect, test } from "bun:test";
import { providerName } from "./provider-name.ts";

test("the engine has one name, in columns and in the filter", () => {
  expect(providerName("engine")).toBe("Embedded models");
  expect(providerName("openai")).toBe("openai");
});
