import { csvLine } from "../../base/text/csv.ts";
import type { RequestContext } from "./context.ts";
import { apiHeaders } from "./refusal.ts";

export interface CsvSource {
  /** The name that browsers save it under. */
  readonly file: string;
  readonly header: readonly string[];
  /** The lines of one page, and where the next one goes on. */
  read(
    after?: string,
  ): Promise<{ readonly lines: readonly string[]; readonly after?: string | undefined }>;
}

/** Streams a table of any length, a page at a time, as fast as the reader takes it. */
export async function csvReply(
  context: Pick<RequestContext, "signal" | "isOperator" | "permission">,
  source: CsvSource,
): Promise<Response> {
  const { signal, isOperator } = context;
  const encoder = new TextEncoder();
  // Before the reply starts: afterwards it can no longer become an error.
  let page = await source.read();
  let isFirst = true;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let text = isFirst ? csvLine(source.header) : "";
      // Never empty: what gives nothing is not asked again.
      do {
        if (signal.aborted) return controller.close();
        if (!isFirst) {
          const now = await context.permission();
          // Cut, not ended: half a file must not look whole.
          if (!now.isAllowed || now.isOperator !== isOperator)
            return controller.error(new Error("no longer allowed"));
          page = await source.read(page.after);
        }
        isFirst = false;
        text += page.lines.join("");
      } while (text === "" && page.after !== undefined);
      if (text !== "") controller.enqueue(encoder.encode(text));
      if (page.after === undefined) controller.close();
    },
  });
  return new Response(body, {
    headers: {
      ...apiHeaders,
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${source.file}"`,
    },
  });
}
