import { memo } from "react";
import { CopyButton } from "../../../components/code/copy-button.tsx";
import { type Block, type ListItem, toBlocks, toSpans } from "./blocks.ts";
import classes from "./markdown.module.css";

/** A reply as its model meant it. Only the block that grows is drawn again. */
export function Markdown({ text }: { readonly text: string }) {
  return toBlocks(text).map((block, at) => <BlockView key={`${at} ${block.kind}`} block={block} />);
}

const BlockView = memo(
  function BlockView({ block }: { readonly block: Block }) {
    switch (block.kind) {
      case "code":
        return <Code text={block.text} />;
      case "heading":
        return (
          // Below the page's own headings, whatever the model thought of itself.
          <p role="heading" aria-level={Math.min(block.level + 2, 6)} className={classes.heading}>
            <Words text={block.text} />
          </p>
        );
      case "list":
        return <List items={block.items} />;
      case "quote":
        return (
          <blockquote className={classes.quote}>
            <Words text={block.text} />
          </blockquote>
        );
      case "table":
        return <Table head={block.head} rows={block.rows} />;
      case "rule":
        return <hr className={classes.rule} />;
      case "text":
        return (
          <p className={classes.text}>
            <Words text={block.text} />
          </p>
        );
    }
  },
  (old, next) => JSON.stringify(old.block) === JSON.stringify(next.block),
);

function Words({ text }: { readonly text: string }) {
  return toSpans(text).map((span, at) => {
    switch (span.kind) {
      case "code":
        return <code key={at}>{span.text}</code>;
      case "bold":
        return <strong key={at}>{span.text}</strong>;
      case "italic":
        return <em key={at}>{span.text}</em>;
      case "link":
        return (
          <a key={at} href={span.url} target="_blank" rel="noopener noreferrer">
            {span.text}
          </a>
        );
      case "text":
        return span.text;
    }
  });
}

function Code({ text }: { readonly text: string }) {
  return (
    <div className={classes.fence}>
      <pre tabIndex={0} aria-label="Code in the reply">
        <code>{text}</code>
      </pre>
      <div className={classes.fenceCopy}>
        <CopyButton text={text} what="this code" />
      </div>
    </div>
  );
}

function List({ items }: { readonly items: readonly ListItem[] }) {
  return (
    <ul className={classes.list}>
      {items.map(({ marker, depth, text }, at) => (
        <li key={at} style={{ paddingLeft: depth * 20 }}>
          <span className={classes.marker}>{marker}</span>
          <span className={classes.text}>
            <Words text={text} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Table({ head, rows }: Omit<Extract<Block, { kind: "table" }>, "kind">) {
  return (
    <div className={classes.scroll} tabIndex={0} role="group" aria-label="Table in the reply">
      <table className={classes.table}>
        <thead>
          <tr>
            {head.map((cell, at) => (
              <th key={at} scope="col">
                <Words text={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column}>
                  <Words text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
