import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Engine, root, startEngine } from "../docker/engine.ts";

// Building the image installs Debian packages: minutes on a busy machine.
setDefaultTimeout(900_000);

const machine = "svc-systemd";
const image = "svc-systemd:test";
let engine: Engine;

/** A container with systemd as its first process, prepared as docs/deploy/systemd.md says. */
beforeAll(async () => {
  engine = await startEngine();
  const context = mkdtempSync(join(tmpdir(), "svc-systemd-"));
  try {
    cpSync(import.meta.dir, context, { recursive: true });
    cpSync(join(root, "deploy/systemd"), join(context, "systemd"), { recursive: true });
    await engine.docker(["build", "--network=host", "--tag", image, context]);
  } finally {
    rmSync(context, { recursive: true });
  }
  await engine.run(["rm", "--force", machine]);
  await engine.docker([
    "run",
    "--detach",
    // All but one, which the machine of the test may lack itself.
    "--cap-add=ALL",
    "--cap-drop=SYS_RESOURCE",
    "--security-opt=seccomp=unconfined",
    "--security-opt=apparmor=unconfined",
    "--security-opt=systempaths=unconfined",
    "--network=none",
    "--tmpfs=/run",
    "--tmpfs=/run/lock",
    "--volume=/sys/fs/cgroup:/sys/fs/cgroup",
    "--volume=/var/lib",
    "--cgroupns=host",
    `--name=${machine}`,
    image,
  ]);
  await until("systemctl is-system-running | grep -qE 'running|degraded'");
});
afterAll(async () => {
  await engine.run(["rm", "--force", "--volumes", machine]);
  await engine.stop();
});

const sh = (script: string) => engine.run(["exec", machine, "sh", "-c", script]);

/** Asks once more for as long as it is not so; bounded by the time of the test. */
async function until(script: string): Promise<void> {
  while ((await sh(script)).code !== 0);
}

const show = async (name: string) =>
  (await sh(`systemctl show --value --property=${name} svc-gateway`)).text.trim();

const get = (path: string) =>
  sh(`node -e 'fetch("http://127.0.0.1:8080${path}").then(r => r.ok || process.exit(1))'`);

test("systemd-analyze finds nothing wrong in the units", async () => {
  for (const unit of ["svc-gateway.service", "svc-backup.service", "svc-backup.timer"]) {
    const { code, text } = await sh(`systemd-analyze verify --man=no /etc/systemd/system/${unit}`);
    expect({ unit, code, text }).toEqual({ unit, code: 0, text: "" });
  }
});

test("the exposure of the service is at most 1.5 of 10", async () => {
  const { code, text } = await sh(
    "systemd-analyze security --offline=true --threshold=15 /etc/systemd/system/svc-gateway.service",
  );
  expect(text).toContain("Overall exposure level");
  expect(code).toBe(0);
});

test("serves inside of the sandbox, as its own user, with the secret of /etc/svc/secret", async () => {
  expect((await sh("systemctl start svc-gateway")).text).toBe("");
  await until("journalctl --unit=svc-gateway --grep='Ctrl-C stops' --quiet | grep -q .");
  expect(await get("/readyz")).toMatchObject({ code: 0 });
  const pid = await show("MainPID");
  const status = await sh(`grep -E '^(Uid|CapBnd|NoNewPrivs|Seccomp):' /proc/${pid}/status`);
  const uid = (await sh("id -u svc")).text.trim();
  expect(status.text.split(/\s+/)).toEqual(expect.arrayContaining([uid, "0000000000000000"]));
  expect(status.text).toMatch(/NoNewPrivs:\t1\n/);
  expect(status.text).toMatch(/Seccomp:\t2\n/);
  const files = await sh(
    "stat -c '%a %U' /var/lib/svc /var/lib/svc/svc.db; ls /var/lib/svc/secret",
  );
  expect(files.text).toContain("700 svc\n600 svc\n");
  expect(files.text).toContain("No such file");
  const outside = await sh(`nsenter --target ${pid} --mount touch /opt/svc-gateway/x /etc/x`);
  expect(outside.text.match(/Read-only file system/g)).toHaveLength(2);
});

test("svc-backup.service backs it up while it serves", async () => {
  expect(await sh("systemctl start svc-backup.service")).toEqual({ code: 0, text: "" });
  expect((await sh("ls /var/lib/svc-backups")).text).toContain(".svcbackup");
});

test("svc doctor runs with the settings and the secret of the service", async () => {
  const page = readFileSync(join(root, "docs/deploy/systemd.md"), "utf8");
  const command = /^systemd-run [\s\S]*?svc doctor$/m.exec(page)?.[0] ?? "";
  const { code, text } = await sh(command);
  expect(text).toContain("0 problems");
  expect(code).toBe(0);
});

test("a killed process is started again, and a stop ends it with 0", async () => {
  const before = await show("MainPID");
  await sh("systemctl kill --signal=KILL svc-gateway");
  await until(`[ "$(systemctl show --value --property=NRestarts svc-gateway)" = 1 ]`);
  while ((await get("/readyz")).code !== 0);
  expect(await show("MainPID")).not.toBe(before);
  expect((await sh("systemctl stop svc-gateway")).text).toBe("");
  expect(await show("Result")).toBe("success");
  expect(await show("ExecMainStatus")).toBe("0");
  expect(await show("ActiveState")).toBe("inactive");
});

test("with MemoryDenyWriteExecute=yes it does not start", async () => {
  const folder = "/etc/systemd/system/svc-gateway.service.d";
  const restart = "systemctl daemon-reload; systemctl start svc-gateway";
  await sh(
    `mkdir ${folder}; echo "[Service]\nMemoryDenyWriteExecute=yes" > ${folder}/x.conf; ${restart}`,
  );
  await until(`[ "$(systemctl show --value --property=NRestarts svc-gateway)" -ge 1 ]`);
  await sh(`systemctl stop svc-gateway; rm -r ${folder}; systemctl daemon-reload`);
});

test("an invalid setting ends the service, without a restart", async () => {
  await sh("echo SVC_PORT=none >> /etc/svc/svc.env; systemctl start svc-gateway");
  await until("systemctl is-failed --quiet svc-gateway");
  expect(await show("NRestarts")).toBe("0");
  const { text } = await sh("journalctl --unit=svc-gateway --lines=5 --output=cat");
  expect(text).toContain("SVC_PORT must be a port number");
});
