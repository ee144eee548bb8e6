import { NativeSelect, TextInput } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { Link, useNavigate } from "@tanstack/react-router";
import { Fragment, useState } from "react";
import type { Endpoint } from "./document.ts";
import { Method } from "./endpoint/words.tsx";
import classes from "./nav.module.css";

export interface EndpointGroup {
  readonly title: string;
  readonly endpoints: readonly Endpoint[];
}

interface EndpointNavProps {
  readonly groups: readonly EndpointGroup[];
  /** "" on the first page. */
  readonly current: string;
}

export function EndpointNav({ groups, current }: EndpointNavProps) {
  const [text, setText] = useState("");
  const isNarrow = useMediaQuery("(max-width: 860px)", undefined, {
    getInitialValueInEffect: false,
  });
  if (isNarrow === true) return <EndpointSelect groups={groups} current={current} />;
  const isHit = ({ summary, path }: Endpoint) =>
    `${summary} ${path}`.toLowerCase().includes(text.toLowerCase());
  return (
    <nav aria-label="Endpoints" className={classes.nav}>
      <TextInput
        aria-label="Search endpoints"
        placeholder="Search endpoints"
        type="search"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <ul>
        <li>
          <Link
            to="/reference"
            hash=""
            className={classes.link}
            activeOptions={{ includeHash: true }}
          >
            Introduction
          </Link>
        </li>
      </ul>
      {groups.map(({ title, endpoints }) => {
        const hits = endpoints.filter(isHit);
        if (hits.length === 0) return null;
        const isOpen =
          text !== "" ||
          endpoints[0]?.api === "gateway" ||
          endpoints.some(({ id }) => id === current);
        return (
          <details key={`${title} ${isOpen}`} open={isOpen}>
            <summary>{title}</summary>
            <ul>
              {hits.map(({ id, method, path, summary, isPreview }) => (
                <li key={id}>
                  <Link
                    to="/reference"
                    hash={id}
                    title={summary}
                    className={classes.link}
                    activeOptions={{ includeHash: true }}
                  >
                    <Method method={method} />
                    <span>
                      <Breakable path={shortPath(path)} />{" "}
                      {isPreview && <em className={classes.preview}>Preview</em>}
                    </span>
                  </Link>
                </li>
              ))}
            </ul>
          </details>
        );
      })}
    </nav>
  );
}

function EndpointSelect({ groups, current }: EndpointNavProps) {
  const navigate = useNavigate();
  return (
    <NativeSelect
      label="Endpoint"
      mb="lg"
      value={current}
      onChange={(event) => void navigate({ to: "/reference", hash: event.currentTarget.value })}
      data={[
        { value: "", label: "Introduction" },
        ...groups.map(({ title, endpoints }) => ({
          group: title,
          items: endpoints.map(({ id, method, path }) => ({
            value: id,
            label: `${method} ${shortPath(path)}`,
          })),
        })),
      ]}
    />
  );
}

/** A long path wraps between its words, not inside them. */
function Breakable({ path }: { readonly path: string }) {
  return path.split(/(?<=[/_])/).map((piece, at) => (
    <Fragment key={at}>
      {piece}
      <wbr />
    </Fragment>
  ));
}

/** What all of them begin with says nothing in a list. */
const shortPath = (path: string) =>
  path.replace(/^\/api\/accounts\/\{account\}(?=\/)/, "…").replace(/^\/api/, "");
