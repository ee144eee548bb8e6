import { Problem } from "../problem.ts";

export interface Place {
  readonly host: string;
  readonly port: number;
  /** The setting that holds the port. */
  readonly setting: string;
}

/** Starts a server; a port that is taken is told together with the way out. */
export function listen<T>({ host, port, setting }: Place, start: () => T): T {
  try {
    return start();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code !== "EADDRINUSE")
      throw new Problem({
        code: "failed",
        message: `Cannot listen on ${host}:${port}: ${String(cause)}`,
        cause,
      });
    const other = port + 10 <= 65_535 ? port + 10 : port - 10;
    throw new Problem({
      code: "busy",
      message: `Port ${port} is taken. Use another one: ${setting}=${other} npm start`,
      cause,
    });
  }
}
