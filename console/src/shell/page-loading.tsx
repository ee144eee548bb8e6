import { Loading } from "../components/feedback/loading.tsx";

/** While a page's own file is on its way. */
export function PageLoading() {
  return <Loading lines={6} label="Loading the page" />;
}
