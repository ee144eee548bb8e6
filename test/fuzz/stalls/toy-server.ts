/** A server that blocks its event loop when asked to, to try out the measuring thread. */
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/waits-for-2-seconds") await Bun.sleep(2_000);
    // Asleep, not busy: the result is then the same however busy the machine is.
    if (pathname === "/blocks-for-2-seconds") Bun.sleepSync(2_000);
    return new Response("ok");
  },
});
process.stdout.write(`${server.port}\n`);
