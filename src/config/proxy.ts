/**
 * Whether calls to an address go through a proxy that the environment names, as the runtime's fetch
 * will have it.
 */
export function proxyCheck(
  environment: Readonly<Record<string, string | undefined>>,
): (url: URL) => boolean {
  const value = (name: string) => environment[name.toLowerCase()] || environment[name] || "";
  const direct = value("NO_PROXY")
    .split(",")
    .map((word) =>
      word
        .trim()
        .toLowerCase()
        .replace(/^\*?\./, ""),
    )
    .filter((word) => word !== "");
  return (url) => {
    if (value(url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY") === "") return false;
    const host = url.hostname.toLowerCase();
    return !direct.some(
      (word) => word === "*" || word === host || word === url.host || host.endsWith(`.${word}`),
    );
  };
}
