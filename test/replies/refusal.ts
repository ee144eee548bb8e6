import { expect } from "bun:test";
import { APIError } from "openai";

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly type: string;
  readonly param: string | null;
  readonly message: string;
}

/** Reads an error reply and holds it to the one shape that all paths share. */
export async function refusalOf(response: Response | Promise<Response>): Promise<Refusal> {
  const { status, headers, ...rest } = await whole(await response);
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("x-request-id")).toMatch(/^req_\w+$/);
  const body = JSON.parse(rest.text) as { readonly error: Omit<Refusal, "status"> };
  expect(Object.keys(body)).toEqual(["error"]);
  expect(Object.keys(body.error).toSorted()).toEqual(["code", "message", "param", "type"]);
  expect(body.error.code).toBeString();
  return { status, ...body.error };
}

/** The same, with these fields. */
export async function expectRefusal(
  response: Response | Promise<Response>,
  expected: Partial<Refusal>,
): Promise<Refusal> {
  const refusal = await refusalOf(response);
  expect(refusal).toMatchObject(expected);
  return refusal;
}

/** What the SDK throws. `expect(…).rejects` leaves the SDK's inner promise without a handler. */
export async function thrownBy(call: PromiseLike<unknown>): Promise<APIError> {
  const thrown: unknown = await Promise.resolve(call).then(
    () => "nothing was thrown",
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(APIError);
  return thrown as APIError;
}

async function whole(response: Response) {
  return { status: response.status, headers: response.headers, text: await response.text() };
}
