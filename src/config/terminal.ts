/** Colours are for people at a terminal who did not ask to be spared (no-color.org). */
export function wantsColour(stream: { readonly isTTY?: boolean | undefined }): boolean {
  return (
    stream.isTTY === true &&
    (process.env["NO_COLOR"] ?? "") === "" &&
    process.env["TERM"] !== "dumb"
  );
}
