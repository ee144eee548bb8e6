import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { goTool } from "../tools.ts";
import { type Cluster, startCluster } from "./cluster.ts";

const chart = resolve(import.meta.dir, "../../../deploy/helm/svc-gateway");
const folder = join(import.meta.dir, "values");
const variants = readdirSync(folder).map((file) => file.replace(".yaml", ""));
const valuesOf = (variant: string) => `--values=${join(folder, variant)}.yaml`;

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());

function helm(...words: readonly string[]) {
  const program = goTool("helm.sh/helm/v3/cmd/helm@v3.18.6");
  const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...words]);
  return { code: exitCode, text: stdout.toString(), problem: stderr.toString() };
}

// A helm that is built from its module does not know which version of Kubernetes it is for.
const template = (...words: readonly string[]) =>
  helm("template", "svc-gateway", chart, "--kube-version=1.34.0", ...words);

describe.each(variants)("with the values of %s", (variant) => {
  test("helm lint finds nothing", () => {
    expect(helm("lint", "--strict", chart, valuesOf(variant))).toMatchObject({ code: 0 });
  });

  test("Kubernetes accepts every object, each field, without a warning", async () => {
    const { code, text } = template(valuesOf(variant));
    expect(code).toBe(0);
    await cluster.kubectl(["create", "namespace", variant]);
    const levels = ["enforce", "warn"].map((one) => `pod-security.kubernetes.io/${one}=restricted`);
    await cluster.kubectl(["label", "namespace", variant, ...levels]);
    const applied = await cluster.kubectl(
      ["apply", `--namespace=${variant}`, "--validate=strict", "--filename=-"],
      text,
    );
    expect(applied).toMatchObject({ code: 0, stderr: "" });
    const created = await cluster.kubectl([
      "get",
      "statefulset",
      "svc-gateway",
      `--namespace=${variant}`,
      "--output=json",
    ]);
    // Its controller would create this pod. The namespace admits only restricted ones.
    const { metadata, spec } = JSON.parse(created.stdout).spec.template;
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { ...metadata, name: "one" }, spec };
    // The volume of a claim, which the controller adds.
    if (!pod.spec.volumes.some(({ name }: { readonly name: string }) => name === "data"))
      pod.spec.volumes.push({ name: "data", emptyDir: {} });
    const admitted = await cluster.kubectl(
      ["create", `--namespace=${variant}`, "--filename=-"],
      JSON.stringify(pod),
    );
    expect(admitted).toMatchObject({ code: 0, stderr: "" });
  });
});

test("the API server refuses a pod with more rights, and a field that does not exist", async () => {
  await cluster.kubectl(["create", "namespace", "refusals"]);
  const label = "pod-security.kubernetes.io/enforce=restricted";
  await cluster.kubectl(["label", "namespace", "refusals", label]);
  const create = async (manifest: string) =>
    cluster.kubectl(
      ["create", "--namespace=refusals", "--validate=strict", "--filename=-"],
      manifest,
    );
  const container = { name: "one", image: "one" };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "one" } };
  const open = await create(JSON.stringify({ ...pod, spec: { containers: [container] } }));
  expect(open.stderr).toContain('violates PodSecurity "restricted:latest"');
  const { text } = template(valuesOf("sqlite"));
  const wrong = await create(text.replace("enableServiceLinks:", "enableServiceLink:"));
  expect(wrong.stderr).toContain('unknown field "spec.template.spec.enableServiceLink"');
});

test("the ServiceMonitor asks for the metrics with the token of a Secret", () => {
  const { code, text } = template(
    valuesOf("sqlite"),
    "--set=serviceMonitor.enabled=true,serviceMonitor.tokenSecret.name=metrics",
  );
  expect(code).toBe(0);
  expect(text).toContain("credentials: { name: metrics, key: token }");
});

const refused: readonly (readonly [what: string, set: string, message: string])[] = [
  ["no secret", "existingSecret=", "existingSecret is empty."],
  ["two pods on SQLite", "replicas=2", "replicas must be 1 with SQLite."],
  ["autoscaling on SQLite", "autoscaling.enabled=true", "autoscaling needs PostgreSQL."],
  ["SQLite without a volume", "persistence.enabled=false", "persistence.enabled must be true"],
  ["an unknown value", "replica=2", "additional properties 'replica' not allowed"],
  ["an unknown database", "database=mysql", "value must be one of 'sqlite', 'postgresql'"],
  ["a variable that is no setting", "settings.PORT=1", "invalid propertyName 'PORT'"],
  ["a secret in settings", "settings.SVC_SECRET=x", "settings.SVC_SECRET is set by the chart."],
  ["an ingress without a name", "ingress.gateway.enabled=true", "ingress.gateway.host is empty."],
  ["half a digest", "image.digest=sha256:12", "does not match pattern"],
];

test.each(refused)("refuses %s", (_what, set, message) => {
  const { code, problem } = template(valuesOf("sqlite"), `--set=${set}`);
  expect(code).not.toBe(0);
  expect(problem).toContain(message);
});
