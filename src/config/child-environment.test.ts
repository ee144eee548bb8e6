import { expect, test } from "bun:test";
import { childEnvironment } from "./child-environment.ts";

const secrets = {
  SVC_SECRET: "s",
  SVC_BACKUP_PASSPHRASE: "p",
  SVC_SECRET_FILE: "/run/secrets/svc",
  SVC_DATABASE_URL_FILE: "/run/secrets/database",
  SVC_DATABASE_URL: "postgres://user:pass@db/svc",
  SVC_FIRST_KEY: "sk-svc-x",
  SVC_ACME_KEY: "k",
  OPENAI_API_KEY: "k",
  ANTHROPIC_API_KEY: "k",
  NVIDIA_API_KEY: "k",
  LLAMA_API_KEY: "k",
  HF_TOKEN: "t",
  GITHUB_TOKEN: "t",
  BUN_AUTH_TOKEN: "t",
  BUN_CONFIG_TOKEN: "t",
  AWS_SECRET_ACCESS_KEY: "k",
  AWS_ACCESS_KEY_ID: "k",
  GOOGLE_APPLICATION_CREDENTIALS: "/keys/google.json",
  DATABASE_URL: "postgres://user:pass@db/app",
  PGPASSWORD: "p",
  MY_OWN_SETTING: "x",
};
const needed = {
  PATH: "/bin",
  HOME: "/srv/me",
  TMPDIR: "/tmp",
  LC_ALL: "C.UTF-8",
  HTTPS_PROXY: "http://proxy:3128",
  no_proxy: "localhost",
  SVC_DATA_DIR: "/data",
  SVC_CACHE_DIR: "/cache",
  SVC_ENGINE_QUEUE: "8",
  SVC_LOG_LEVEL: "info",
  CUDA_VISIBLE_DEVICES: "0",
  OMP_NUM_THREADS: "4",
  GGML_CUDA_FORCE_MMQ: "1",
  BUN_CONFIG_MAX_HTTP_REQUESTS: "65336",
};
const registry = { npm_config_registry: "http://registry.example/", NPM_TOKEN: "t" };

test("the engine gets what it needs, and no secret of the environment", () => {
  const environment = { ...needed, ...secrets, ...registry, SHELL: undefined };
  expect(childEnvironment(environment, "engine")).toEqual(needed);
});

test("an installer gets npm's settings as well, and no other secret", () => {
  const environment = { ...needed, ...secrets, ...registry };
  expect(childEnvironment(environment, "installer")).toEqual({ ...needed, ...registry });
});

test("a command that prints a key gets nothing of the gateway's own", () => {
  const given = childEnvironment({ ...needed, ...secrets, ...registry }, "command");
  const ours = Object.keys(needed).filter((name) => name.startsWith("SVC_"));
  expect(ours.length).toBeGreaterThan(0);
  const machine = Object.entries(needed).filter(([name]) => !ours.includes(name));
  expect(given).toEqual(Object.fromEntries(machine));
});
