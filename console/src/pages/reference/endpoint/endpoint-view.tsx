import { useEffect, useRef, useState } from "react";
import { CodeBlock } from "../../../components/code/code-block.tsx";
import { callSamples } from "../../../components/code/samples.ts";
import { type Access, useModels } from "../access.ts";
import { baseUrlOf, type Endpoint, type EndpointReply, type OpenApi } from "../document.ts";
import { pretty } from "../try-it/pretty.ts";
import { TryIt } from "../try-it/try-it.tsx";
import classes from "./endpoint.module.css";
import { Errors } from "./errors.tsx";
import { FieldList } from "./field-list.tsx";
import { Parameters } from "./parameters.tsx";
import { exampleOf } from "./schema.ts";
import { Method, Words } from "./words.tsx";

interface EndpointViewProps {
  readonly document: OpenApi;
  readonly endpoint: Endpoint;
  readonly access: Access;
  /** Whether one came here from another endpoint, and not by opening the page. */
  readonly takesFocus: boolean;
}

export function EndpointView({ document, endpoint, access, takesFocus }: EndpointViewProps) {
  const baseUrl = baseUrlOf(document);
  const models = useModels(access, { endpoint, baseUrl });
  const [edited, setEdited] = useState<string | undefined>();
  const example = bodyExample(document, endpoint, models);
  const body = edited ?? (example === undefined ? undefined : JSON.stringify(example, null, 2));
  const address = endpoint.api === "gateway" ? baseUrl : location.origin;
  const samples = callSamples({
    method: endpoint.method,
    variable: endpoint.api === "gateway" ? "SVC_API_KEY" : "SVC_TOKEN",
    baseUrl: address,
    path: endpoint.path.replace("{account}", access.account?.id ?? "{account}"),
    body: readBody(body) ?? example,
  });
  return (
    <article className={classes.endpoint} aria-labelledby={endpoint.id}>
      <Head endpoint={endpoint} baseUrl={baseUrl} takesFocus={takesFocus} />
      <div className={classes.columns}>
        <div className={classes.told}>
          <Parameters document={document} parameters={endpoint.parameters} />
          {endpoint.body?.schema !== undefined && (
            <section>
              <h3>Body</h3>
              <FieldList document={document} schema={endpoint.body.schema} label="Body fields" />
            </section>
          )}
          {body === undefined && endpoint.parameters.length === 0 && (
            <p className={classes.about}>This endpoint takes no parameters.</p>
          )}
        </div>
        <div className={classes.shown}>
          <section>
            <h3>Request</h3>
            <CodeBlock what="the request" samples={samples} />
          </section>
          {!endpoint.isUpload && (
            <section>
              <h3>Try it</h3>
              <TryIt
                endpoint={endpoint}
                baseUrl={baseUrl}
                access={access}
                models={models}
                body={body}
                onBody={setEdited}
              />
            </section>
          )}
        </div>
      </div>
      {endpoint.replies
        .filter(({ status }) => status.startsWith("2"))
        .flatMap(({ contents }) => contents)
        .map((content) => (
          <ReplyView key={content.type} document={document} content={content} />
        ))}
      <Errors endpoint={endpoint} />
    </article>
  );
}

interface HeadProps extends Pick<EndpointViewProps, "endpoint" | "takesFocus"> {
  readonly baseUrl: string;
}

function Head({ endpoint, baseUrl, takesFocus }: HeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (takesFocus) heading.current?.focus({ preventScroll: true });
  }, [takesFocus]);
  return (
    <div className={classes.head}>
      <h2 id={endpoint.id} ref={heading} tabIndex={-1}>
        {endpoint.summary}
      </h2>
      <p className={classes.address}>
        <Method method={endpoint.method} />
        <code>
          {endpoint.api === "gateway" && <span>{baseUrl}</span>}
          {endpoint.path}
        </code>
      </p>
      {endpoint.isPreview && <p className={classes.notice}>Preview. This endpoint may change.</p>}
      {endpoint.isDeprecated && (
        <p className={classes.notice}>Deprecated. The changelog lists the removal date.</p>
      )}
      {endpoint.description !== "" && (
        <p className={classes.about}>
          <Words text={endpoint.description} />
        </p>
      )}
    </div>
  );
}

type Body = Readonly<Record<string, unknown>>;

/** The description's own, with a model that can be called here; else one made of the schema. */
function bodyExample(
  document: OpenApi,
  { body }: Endpoint,
  models: readonly string[],
): Body | undefined {
  if (body === undefined) return undefined;
  const { example, schema } = body;
  const made = (example ?? exampleOf(document, schema ?? {})) as Body;
  const [first] = models;
  if (first === undefined || models.includes(String(made["model"]))) return made;
  return { ...made, model: first };
}

function readBody(text: string | undefined): Body | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Body);
  } catch {
    return undefined;
  }
}

interface ReplyViewProps {
  readonly document: OpenApi;
  readonly content: EndpointReply["contents"][number];
}

function ReplyView({ document, content }: ReplyViewProps) {
  const { type, schema, example } = content;
  const shown = type === "text/event-stream" ? eventText(example) : pretty(JSON.stringify(example));
  return (
    <section className={classes.columns}>
      <div className={classes.told}>
        <h3>
          Response <code>{type}</code>
        </h3>
        {schema !== undefined && (
          <FieldList
            document={document}
            schema={schema}
            label={`Response fields, ${type}`}
            isReply
          />
        )}
      </div>
      {example !== undefined && (
        <div className={classes.beside}>
          <CodeBlock what="a response" samples={[{ label: type, code: shown }]} />
        </div>
      )}
    </section>
  );
}

const eventText = (example: unknown) => `data: ${JSON.stringify(example, null, 2)}`;
