import { describe, expect, test } from "bun:test";
import {
  at,
  changed,
  chat,
  field,
  get,
  header,
  type Loose,
  post,
  query,
  remove,
  type Step,
  schema,
  set,
} from "./altered-document.ts";

describe("a removal", () => {
  const deprecate = (date: string) => (d: Loose) => {
    const told = { deprecated: true, "x-replacement": "other", "x-removal-date": date };
    set(field(d, "ChatCompletionRequest", "user"), told);
    set(at(d, "paths", "/audio/speech", "post"), told);
  };
  const removeBoth = (d: Loose) => {
    remove(at(schema(d, "ChatCompletionRequest"), "properties"), "user");
    remove(at(d, "paths"), "/audio/speech");
  };

  test("on or after its date is no break", () => {
    expect(changed(removeBoth, deprecate("2027-06-01"))).toEqual([]);
    expect(changed(removeBoth, deprecate("2027-01-01"))).toEqual([]);
  });

  test("before its date is one", () => {
    expect(changed(removeBoth, deprecate("2027-06-02"))).toEqual([
      "POST /chat/completions request.user is gone",
      "POST /audio/speech is gone",
    ]);
  });

  const dated = (date: string, deprecated = true) => ({
    ...(deprecated ? { deprecated } : {}),
    "x-replacement": "other",
    "x-removal-date": date,
  });
  const withUser = (told: Record<string, unknown>) => (d: Loose) =>
    set(field(d, "ChatCompletionRequest", "user"), told);

  test("of what has a date but was never deprecated is one", () => {
    const prepare = (d: Loose) => {
      withUser(dated("2027-01-01", false))(d);
      set(at(d, "paths", "/audio/speech", "post"), dated("2027-01-01", false));
    };
    expect(changed(removeBoth, prepare)).toHaveLength(2);
    const isFalse = { ...dated("2027-01-01"), deprecated: false };
    const gone = (d: Loose) => remove(at(chat(d), "properties"), "user");
    expect(changed(gone, withUser(isFalse))).toHaveLength(1);
  });

  test("of a reply's required field, a parameter or a header waits for its date too", () => {
    const prepare = (date: string) => (d: Loose) => {
      set(field(d, "Model", "owned_by"), dated(date));
      query(dated(date))(d);
      set(header(d, "RetryAfter"), dated(date));
    };
    const gone = (d: Loose) => {
      const model = schema(d, "Model");
      remove(at(model, "properties"), "owned_by");
      const required = model["required"] as unknown as readonly string[];
      set(model, { required: required.filter((name) => name !== "owned_by") });
      remove(get(d), "parameters");
      remove(at(d, "components", "responses", "TooMany", "headers"), "retry-after");
    };
    expect(changed(gone, prepare("2027-06-01"))).toEqual([]);
    const early = changed(gone, prepare("2027-06-02")).join("\n");
    for (const name of ["owned_by: not sure to be there", "query limit is gone", "retry-after"])
      expect(early).toContain(name);
  });

  test("is announced before its day", () => {
    const places: readonly ((told: Record<string, unknown>) => Step)[] = [
      withUser,
      (told) => (d) => set(post(d), told),
      (told) => (d) => set(header(d, "RetryAfter"), told),
      (told) => (d) => query(told)(d),
    ];
    for (const place of places) {
      const prepare = place({});
      expect(changed(place(dated("2027-06-02")), prepare)).toEqual([]);
      expect(changed(place(dated("2027-06-01")), prepare)).not.toEqual([]);
      expect(changed(place(dated("2026-01-01")), prepare)).not.toEqual([]);
    }
  });

  test("that only has a date is not announced by it", () => {
    const onlyDated = withUser(dated("2027-01-01", false));
    expect(changed(onlyDated)).toEqual([]);
    expect(changed(withUser(dated("2027-01-01")), onlyDated)).not.toEqual([]);
  });

  test("is not moved to an earlier day, but may be to a later one", () => {
    const from = withUser(dated("2027-09-01"));
    expect(changed(withUser(dated("2027-08-31")), from)).not.toEqual([]);
    expect(changed(withUser(dated("2027-09-02")), from)).toEqual([]);
    // What was announced in time stays so when its day is past.
    expect(changed(() => {}, withUser(dated("2027-01-01")))).toEqual([]);
  });
});
