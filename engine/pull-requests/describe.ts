/** The pull request of a session, in an answer to a client. */
interface ShownPullRequest {
  pull_request: {
    number: number | null;
    url: string | null;
    state: string | null;
    problem: string | null;
  } | null;
  pull_request_order: { problem: string | null } | null;
}

/** Describes the pull request of a session briefly: `#41 open`, `next`; null while it has none and gets none. */
export function describePullRequest({
  pull_request: pull,
  pull_request_order: order,
}: ShownPullRequest): string | null {
  const opened =
    pull === null
      ? ''
      : `${pull.number === null ? 'opened' : `#${pull.number}`} ${pull.state ?? ''}`.trimEnd();
  const next = order === null ? '' : order.problem === null ? 'pushed next' : 'not pushed yet';
  return [opened, next].filter((each) => each !== '').join(', ') || null;
}

/** Describes the same with its page, and with the reason why it is not pushed yet. */
export function explainPullRequest(row: ShownPullRequest): string | null {
  const brief = describePullRequest(row);
  const url = row.pull_request?.url;
  const problem = row.pull_request_order?.problem ?? row.pull_request?.problem;
  if (brief === null) return null;
  return `${brief}${problem ? `: ${problem}` : ''}${url ? `  ${url}` : ''}`;
}
