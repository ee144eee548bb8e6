import { type Change, notesOf } from "../wire/changes.ts";

/** One style sheet in the page, and nothing from anywhere else. */
const style = `
:root { color-scheme: light dark; --line: #d8dbe0; --dim: #5b6270; --ink: #16181d; --paper: #fdfdfc; --mark: #eef1f6 }
@media (prefers-color-scheme: dark) { :root { --line: #333842; --dim: #9aa3b2; --ink: #e8eaee; --paper: #14161a; --mark: #22262e } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif }
main { max-width: 46rem; margin: 0 auto; padding: 3rem 1.25rem 5rem }
h1 { font-size: 1.7rem; margin: 0 0 .4rem }
p { margin: 0 } .lead { color: var(--dim); margin-bottom: 2.2rem }
ol { list-style: none; margin: 0; padding: 0 }
li { border-top: 1px solid var(--line); padding: 1.1rem 0 1.2rem }
.head { display: flex; flex-wrap: wrap; gap: .6rem; align-items: baseline; margin-bottom: .35rem; color: var(--dim); font-size: .9rem }
.kind { color: var(--ink); background: var(--mark); border-radius: .3rem; padding: .05rem .5rem; font-weight: 600 }
.kind.deprecated { background: #f6d88a; color: #3d2c00 } .kind.removed, .kind.breaking { background: #f3b4ac; color: #4a0d06 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem .9rem; margin: .6rem 0 0; font-size: .95rem }
dt { color: var(--dim) } dd { margin: 0; overflow-wrap: anywhere }
a { color: inherit }`;

const styleHash = new Bun.CryptoHasher("sha256").update(style).digest("base64");

export const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/** The changelog of the API, for people. */
export function toChangesPage(changes: readonly Change[]): string {
  const entries = changes.map((entry) => {
    const { date, version, kind, what } = entry;
    const notes = notesOf(entry)
      .map(([name, words]) => `<dt>${name}</dt><dd>${escape(words)}</dd>`)
      .join("");
    const head = `<span class="kind ${kind}">${kind}</span><span>${version}</span><time datetime="${date}">${date}</time>`;
    return `<li><p class="head">${head}</p><p>${escape(what)}</p>${notes === "" ? "" : `<dl>${notes}</dl>`}</li>`;
  });
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Changes of the API · svc gateway</title><style>${style}</style></head>
<body><main>
<h1>Changes of the API</h1>
<p class="lead">Newest first. What is deprecated works until its date. <a href="/changelog.txt">As text</a> · <a href="/openapi.json">OpenAPI</a></p>
<ol>${entries.join("\n")}</ol>
</main></body>
</html>
`;
}

const escape = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
