import { expect, test } from "bun:test";
import { fromCommandLine } from "./options.ts";
import { jobOf, workloadsOf } from "./workloads.ts";

const program = import.meta.path;

test("programs take part if their path is given", () => {
  expect(fromCommandLine([])?.names).toEqual(["svc", "bare", "nginx", "litellm", "portkey"]);
  const options = fromCommandLine(["--aisix", program, "--without", "litellm,portkey"]);
  expect(options?.names).toEqual(["svc", "bare", "nginx", "aisix"]);
  expect(options?.paths).toEqual({ aisix: program });
});

test("what makes no sense is rejected", () => {
  expect(() => fromCommandLine(["--only", "svc,other"])).toThrow('"other"');
  expect(() => fromCommandLine(["--only", "svc,aisix"])).toThrow("--aisix PATH");
  expect(() => fromCommandLine(["--aisix", `${program}.missing`])).toThrow("does not exist");
  expect(() => fromCommandLine(["--rounds", "0"])).toThrow("--rounds");
  expect(fromCommandLine(["--help"])).toBeUndefined();
});

test("a lower rate sends fewer requests in the same time", () => {
  const workload = workloadsOf({ isQuick: false }).find(({ id }) => id === "gentle");
  if (workload === undefined) throw new Error("there is no gentle workload");
  const contender = {
    name: "peer",
    title: "peer",
    version: "1",
    does: "",
    port: 1,
    proxy: undefined,
    keys: ["a"],
    models: { chat: "a", embeddings: "b", speech: "c" },
    replyModel: "a",
    isPeer: true,
  };
  const full = jobOf({ workload, contender });
  const slow = jobOf({ workload, contender, rate: 100 });
  expect(full).toMatchObject({ rate: 1_000, keepsTimes: true, model: "a" });
  expect(slow).toMatchObject({ rate: 100, requests: full.requests / 10 });
});

test("every workload has an end", () => {
  for (const isQuick of [true, false])
    for (const { requests, durationMs } of workloadsOf({ isQuick }))
      expect(requests ?? durationMs).toBeGreaterThan(0);
});
