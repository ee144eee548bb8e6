/** Color only on a terminal, and not with NO_COLOR (no-color.org). */
export function wantsColour(stream: { readonly isTTY?: boolean | undefined }): boolean {
  return (
    stream.isTTY === true &&
    (process.env["NO_COLOR"] ?? "") === "" &&
    process.env["TERM"] !== "dumb"
  );
}

/** The runtime's fetch would send even calls to this machine through HTTP_PROXY. */
export function keepLoopbackDirect(): void {
  const direct = ["localhost", "127.0.0.1", "::1"];
  for (const name of ["NO_PROXY", "no_proxy"])
    process.env[name] = [process.env[name] ?? "", ...direct]
      .filter((word) => word !== "")
      .join(",");
}
