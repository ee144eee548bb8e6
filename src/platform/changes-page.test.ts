import { expect, test } from "bun:test";
import { readChanges } from "../wire/changes.ts";
import { pageHeaders, toChangesPage } from "./changes-page.ts";

const changes = readChanges(`
- date: "2026-11-20"
  version: v1
  kind: deprecated
  what: <b>user</b> & 'more'
  target: ChatCompletionRequest.user
  replacement: <script>alert(1)</script>
  removal_date: "2027-05-20"
`);

test("a change shows all it tells, and its words stay words", () => {
  const page = toChangesPage(changes);
  for (const said of ["deprecated", "2026-11-20", "ChatCompletionRequest.user", "2027-05-20"])
    expect(page).toContain(said);
  expect(page).toContain("&#60;b&#62;user&#60;/b&#62; &#38; &#39;more&#39;");
  expect(page).not.toContain("<b>");
  expect(page).not.toContain("<script>");
});

test("the style sheet in the page is the one that the policy allows", () => {
  const style = /<style>([^]*)<\/style>/.exec(toChangesPage(changes))?.[1] ?? "";
  const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
  expect(pageHeaders["content-security-policy"]).toContain(`style-src 'sha256-${hash}'`);
});
