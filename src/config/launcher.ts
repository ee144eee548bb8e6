/**
 * What scripts/start.mjs and scripts/run.mjs pass on in the environment. It is removed from there at
 * once, so that processes started by this one do not inherit it.
 */

/** The process that forwards signals and the exit code; undefined if it became this process. */
export const launcher = launcherPid(take("SVC_LAUNCHER"));

/** How the user runs the command line: `svc`, `./svc` in a clone, `npx svc` with the package. */
export const ownCommand = commandName(take("SVC_COMMAND"));

function take(name: string): string | undefined {
  const text = process.env[name];
  delete process.env[name];
  return text;
}

function launcherPid(text: string | undefined): number | undefined {
  const pid = Number(text);
  // Otherwise the variable was inherited and is meant for another process.
  return pid === process.ppid ? pid : undefined;
}

function commandName(text: string | undefined): string {
  return text !== undefined && /^[\w./@+ -]{1,200}$/.test(text) ? text : "svc";
}
