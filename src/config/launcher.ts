/**
 * What the process that started this one knows (scripts/start.mjs, scripts/run.mjs). It is taken out
 * of the environment at once: no process that this one starts has the same launcher.
 */

/** It stays, to pass signals and the exit code on; undefined where it has become this process. */
export const launcher = launcherPid(take("SVC_LAUNCHER"));

/** What people type for the command line: `svc`, `./svc` in a clone, `npx svc` beside the package. */
export const ownCommand = commandName(take("SVC_COMMAND"));

function take(name: string): string | undefined {
  const text = process.env[name];
  delete process.env[name];
  return text;
}

function launcherPid(text: string | undefined): number | undefined {
  const pid = Number(text);
  // Another one was meant, whose environment was passed on.
  return pid === process.ppid ? pid : undefined;
}

function commandName(text: string | undefined): string {
  return text !== undefined && /^[\w./@+ -]{1,200}$/.test(text) ? text : "svc";
}
