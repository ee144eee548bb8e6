import { useLocation } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { useAccess } from "./access.ts";
import { type Endpoint, endpointsOf, useGatewayDocument, usePlatformDocument } from "./document.ts";
import classes from "./endpoint/endpoint.module.css";
import { EndpointView } from "./endpoint/endpoint-view.tsx";
import { type EndpointGroup, EndpointNav } from "./endpoint-nav.tsx";
import { Intro } from "./intro.tsx";

export function Page() {
  const gateway = useGatewayDocument();
  const platform = usePlatformDocument();
  const access = useAccess();
  const { hash } = useLocation();
  const [first] = useState(hash);
  const ofGateway = endpointsOf(gateway.data, "gateway");
  const ofPlatform = endpointsOf(platform.data, "platform");
  const endpoint = [...ofGateway, ...ofPlatform].find(({ id }) => id === hash);
  useEffect(() => {
    window.scrollTo({ top: 0 });
  }, [hash]);
  return (
    <>
      <PageHeader
        hasTimes={false}
        title="API reference"
        about="Every endpoint, with a form to send real requests."
      />
      <ErrorNotice
        problem={gateway.error ?? platform.error}
        onRetry={() => Promise.all([gateway.refetch(), platform.refetch()])}
      />
      {(gateway.isPending || platform.isPending) && (
        <Loading lines={8} label="Loading API reference" />
      )}
      {gateway.data !== undefined && platform.data !== undefined && (
        <div className={classes.layout}>
          <EndpointNav
            groups={[{ title: "Gateway API", endpoints: ofGateway }, ...byTag(ofPlatform)]}
            current={endpoint?.id ?? ""}
          />
          {endpoint === undefined ? (
            <Intro gateway={gateway.data} platform={platform.data} endpoints={ofGateway} />
          ) : (
            <EndpointView
              key={endpoint.id}
              document={endpoint.api === "gateway" ? gateway.data : platform.data}
              endpoint={endpoint}
              access={access}
              takesFocus={hash !== first}
            />
          )}
        </div>
      )}
    </>
  );
}

function byTag(endpoints: readonly Endpoint[]): readonly EndpointGroup[] {
  const groups = Map.groupBy(endpoints, ({ tag }) => tag);
  return [...groups].map(([tag, ofTag]) => ({
    title: `Platform: ${tag}`,
    endpoints: ofTag.toSorted((one, other) => one.path.localeCompare(other.path)),
  }));
}
