/** @jsxImportSource hono/jsx */
import type { ListedRun } from '../links/runs.ts';
import type { SignedIn } from '../people/people.ts';
import { Page, TableHead, Time } from './layout.tsx';

const describeState = ({ state, reason }: ListedRun, isConnected: boolean): string => {
  const words = state === 'queued' ? 'waiting for its turn' : state;
  if (isLive(state) && !isConnected) return `was ${words} when its workspace was last connected`;
  return reason === null ? words : `${words}: ${reason}`;
};

const isLive = (state: ListedRun['state']): boolean => LIVE.includes(state);
const LIVE: readonly ListedRun['state'][] = ['queued', 'running', 'paused'];

const CHECK_WORDS = { pending: 'checks pending', passed: 'checks passed', failed: 'checks failed' } as const;

const describeChecks = ({ checks }: NonNullable<ListedRun['pullRequest']>): string => {
  if (checks === undefined) return '';
  return `, ${CHECK_WORDS[checks.state]}${checks.failed === null ? '' : `: ${checks.failed}`}`;
};

/** Lists running sessions of all workspaces of the account, and the last finished ones. */
export function RunsPage({
  signedIn,
  running,
  finished,
  isConnected,
}: {
  signedIn: SignedIn;
  running: readonly ListedRun[];
  finished: readonly ListedRun[];
  isConnected(workspace: string): boolean;
}) {
  const listRuns = (runs: readonly ListedRun[], time: string) => (
    <table>
      <TableHead columns={['What', 'State', 'Where', 'Agent', time]} />
      <tbody>
        {runs.map((run) => (
          <tr>
            <td data-label="What">
              {run.title ?? 'Untitled'} <span class="dim">{run.sessionId}</span>
            </td>
            <td data-label="State">
              {describeState(run, isConnected(run.workspace.id))}
              {run.pullRequest ? (
                <>
                  {', '}
                  <a
                    href={run.pullRequest.url}
                    rel="noreferrer"
                  >{`pull request #${run.pullRequest.number}`}</a>{' '}
                  {run.pullRequest.state}
                  {describeChecks(run.pullRequest)}
                </>
              ) : null}
            </td>
            <td data-label="Where">
              <a href={`/app/workspaces/${run.workspace.id}`}>{run.workspace.name}</a>
              {run.project === null ? null : `, ${run.project}`}
            </td>
            <td data-label="Agent">{run.agent ?? 'none'}</td>
            <td data-label={time}>
              <Time at={run.at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
  return (
    <Page title="Running and done" path="/app/runs" signedIn={signedIn}>
      <h2>Running</h2>
      {running.length === 0 ? <p>Nothing is running.</p> : listRuns(running, 'Since')}
      <h2>Done</h2>
      {finished.length === 0 ? <p>Nothing has finished yet.</p> : listRuns(finished, 'At')}
    </Page>
  );
}
