import { randomUUID } from "node:crypto";

/** A body of multipart/form-data. */
export interface Form {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface FormFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** The boundary is new each time: nobody can write fields of their own into a text. */
export function toForm(fields: readonly (readonly [string, string])[], file: FormFile): Form {
  const boundary = `svc-${randomUUID()}`;
  const head = (disposition: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  const texts = fields.map(([name, value]) => `${head(`name="${name}"`)}\r\n${value}\r\n`);
  const fileHead = `${head(`name="file"; filename="${file.name}"`)}Content-Type: ${file.contentType}\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: Buffer.concat([
      Buffer.from(texts.join("") + fileHead),
      file.bytes,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  };
}
