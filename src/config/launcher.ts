const variable = "SVC_LAUNCHER";

/**
 * The process that started this one and stays, to pass signals and the exit code on (scripts/run.mjs).
 * It is read once, at the start: no process that this one starts has the same launcher.
 */
export function takeLauncher(): number | undefined {
  const pid = Number(process.env[variable]);
  delete process.env[variable];
  // Another one was meant, whose environment was passed on.
  return pid === process.ppid ? pid : undefined;
}
