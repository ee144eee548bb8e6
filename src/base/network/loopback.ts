/** Whether a host name or address, an IPv6 one with brackets or without, leads to this machine alone. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return (
    name === "localhost" || name === "::1" || name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name)
  );
}
