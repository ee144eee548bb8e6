import { IconBox, IconSearch } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { EmptyState } from "../../components/feedback/empty-state.tsx";
import { ErrorNotice } from "../../components/feedback/error-notice.tsx";
import { Loading } from "../../components/feedback/loaded.tsx";
import { FindInput } from "../../components/form/find-input.tsx";
import { Fold } from "../../components/layout/fold.tsx";
import { PageHeader } from "../../components/layout/page-header.tsx";
import { useApi } from "../../queries.ts";
import { useSearchText } from "../../search.ts";
import { useAccount, useMay } from "../../session.tsx";
import { ModelCard } from "./model-card.tsx";
import { isFound, type Model, toGroups } from "./models.ts";
import classes from "./page.module.css";

export function Page() {
  const { id: account } = useAccount();
  const [search] = useSearchText();
  const models = useApi("GET /api/accounts/:account/models", { params: { account } });
  const { data } = models;
  return (
    <>
      <PageHeader
        title="Models"
        about="Models this account's keys can call, with prices and retirement dates."
        actions={
          data !== undefined &&
          data.length > 0 && <FindInput label="Search models" placeholder="Search models" />
        }
      />
      <ErrorNotice problem={models.error} onRetry={() => models.refetch()} />
      {models.isPending && <Loading lines={8} label="Loading models" />}
      {data?.length === 0 && <NoModels />}
      {data !== undefined && data.length > 0 && (
        <Groups account={account} models={data} find={search["find"] ?? ""} />
      )}
    </>
  );
}

interface GroupsProps {
  readonly account: string;
  readonly models: readonly Model[];
  readonly find: string;
}

function Groups({ account, models, find }: GroupsProps) {
  const found = models.filter((model) => isFound(model, find.trim()));
  const retired = found.filter(({ status }) => status === "retired");
  const groups = toGroups(found.filter(({ status }) => status !== "retired"));
  return (
    <>
      {found.length === 0 && (
        <EmptyState
          icon={IconSearch}
          title="No matches"
          about={`No models match “${find.trim()}”. Search by ID or type.`}
        />
      )}
      {groups.map((group) => (
        <section key={group.title} className={classes.group} aria-label={group.title}>
          <div className={classes.head}>
            <h2>{group.title}</h2>
            <p>{group.about}</p>
          </div>
          <Cards account={account} models={group.models} />
        </section>
      ))}
      {retired.length > 0 && (
        <Fold title={`Retired models (${retired.length})`}>
          <Cards account={account} models={retired} />
        </Fold>
      )}
    </>
  );
}

function Cards({ account, models }: Omit<GroupsProps, "find">) {
  return (
    <ul className={classes.cards}>
      {models.map((model) => (
        <ModelCard key={model.id} account={account} model={model} />
      ))}
    </ul>
  );
}

function NoModels() {
  const isOperator = useMay("operator");
  return (
    <EmptyState
      icon={IconBox}
      title="No models yet"
      about={
        isOperator
          ? "A model appears here once it has a price and a provider."
          : "A model appears here once the operator has set its price and provider."
      }
      action={isOperator && <Link to="/operator/providers">View providers</Link>}
    />
  );
}
