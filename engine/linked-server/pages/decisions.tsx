/** @jsxImportSource hono/jsx */
import { formatCount } from '../../core/base/text.ts';
import type { LinkEvent } from '../../core/link-protocol/messages.ts';
import { describeCommand, describeOrigin, isFinal, nameDecision } from '../chats/describe.ts';
import { joinSpans } from '../chats/spans.ts';
import type { ListPage } from '../database/list-page.ts';
import type { CommandRow } from '../database/tables.ts';
import type { WaitingDecision, WaitingPage as WaitingList } from '../links/pending.ts';
import type { ListedWorkspace } from '../links/workspace-lists.ts';
import type { SignedIn } from '../people/people.ts';
import { Action, Field, Notice, Page, TableHead, Time } from './layout.tsx';
import { PageLinks } from './page-links.tsx';

const describePlace = ({ workspace, project }: WaitingDecision): string =>
  project === null ? workspace.name : `${workspace.name}, ${project}`;

function CommandNotice({
  command,
  now,
  isConnected,
}: {
  command: CommandRow | null;
  now: number;
  isConnected: boolean;
}) {
  if (command === null) return null;
  const { text, isGood } = describeCommand(command, { now, isConnected });
  return <Notice {...(isGood ? { said: joinSpans(text) } : { error: joinSpans(text) })} />;
}

/** Lists pending decisions in all workspaces of the account, the oldest first. */
export function WaitingPage({
  signedIn,
  waiting,
  hasWorkspaces,
}: {
  signedIn: SignedIn;
  waiting: WaitingList;
  hasWorkspaces: boolean;
}) {
  const { decisions, more } = waiting;
  return (
    <Page title="Waiting" path="/app" signedIn={signedIn}>
      {decisions.length === 0 ? (
        <p>
          {hasWorkspaces ? (
            'No decisions are waiting.'
          ) : (
            <>
              No workspace is linked yet. Run <code>svc link</code> inside a workspace on a machine that has
              logged in.
            </>
          )}
        </p>
      ) : (
        <table>
          <TableHead columns={['What', 'Where', 'Agent', 'From', 'Since']} />
          <tbody>
            {decisions.map((decision) => (
              <tr>
                <td data-label="What">
                  <a href={`/app/decisions/${decision.workspace.id}/${decision.decision_id}`}>
                    {nameDecision(decision)}
                  </a>{' '}
                  <span class="dim">{decision.decision_id}</span>
                </td>
                <td data-label="Where">{describePlace(decision)}</td>
                <td data-label="Agent">{decision.agent ?? 'none'}</td>
                <td data-label="From">{joinSpans(describeOrigin(decision))}</td>
                <td data-label="Since">
                  <Time at={Date.parse(decision.since)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {more > 0 ? (
        <p>{`${formatCount(more, 'more decision waits', 'more decisions wait')} after these.`}</p>
      ) : null}
      <PageLinks
        page={waiting}
        path="/app"
        names={{ previous: 'Older decisions', next: 'Newer decisions' }}
      />
    </Page>
  );
}

const WHY_NOT: Readonly<Record<'untrusted' | 'off', string>> = {
  untrusted:
    "The task's author is untrusted, so it can only be approved at the machine. It can be denied here.",
  off: 'This workspace accepts no decisions from this page: server.decide of its svc.yaml names no one for it.',
};

function DecideForm({ decision }: { decision: WaitingDecision }) {
  const { approval, hash, workspace } = decision;
  if (approval === 'off' || !workspace.channels.includes('page')) return <p>{WHY_NOT.off}</p>;
  const place = `/app/decisions/${workspace.id}/${decision.decision_id}`;
  return (
    <>
      {approval === 'untrusted' ? (
        <p>{WHY_NOT.untrusted}</p>
      ) : (
        <form method="post" action={`${place}/approve`}>
          <input type="hidden" name="hash" value={hash} />
          {approval === 'code' ? (
            <Field
              name="code"
              label="One-time code"
              autocomplete="one-time-code"
              hint="six digits, from the app that scanned the code of svc link code"
            />
          ) : null}
          <button type="submit">Approve</button>
        </form>
      )}
      <form method="post" action={`${place}/deny`}>
        <input type="hidden" name="hash" value={hash} />
        <button type="submit" class="bad">
          Deny
        </button>
      </form>
    </>
  );
}

/** Shows one decision: its known facts, the buttons, and the result of the last press. */
export function DecisionPage({
  signedIn,
  decision,
  id,
  command,
  now,
  isConnected,
  error,
}: {
  signedIn: SignedIn;
  /** Null if it is no longer pending. */
  decision: WaitingDecision | null;
  id: string;
  command: CommandRow | null;
  now: number;
  isConnected: boolean;
  error?: string;
}) {
  return (
    <Page title={decision === null ? id : nameDecision(decision)} path="" signedIn={signedIn}>
      {error === undefined ? (
        <CommandNotice command={command} now={now} isConnected={isConnected} />
      ) : (
        <Notice error={error} />
      )}
      {decision === null ? (
        !isFinal(command) && <p>{`${id} is no longer pending.`}</p>
      ) : (
        <>
          <dl class="facts">
            <dt>Decision</dt>
            <dd>{`${decision.decision_id} about ${decision.task_id}`}</dd>
            <dt>Workspace</dt>
            <dd>{describePlace(decision)}</dd>
            <dt>Agent</dt>
            <dd>{decision.agent ?? 'none'}</dd>
            <dt>From</dt>
            <dd>{joinSpans(describeOrigin(decision))}</dd>
            {decision.reference != null && (
              <>
                <dt>About</dt>
                <dd>
                  <ReferenceLink reference={decision.reference} url={decision.url} />
                </dd>
              </>
            )}
            <dt>Why it waits</dt>
            <dd>{decision.why}</dd>
            <dt>Since</dt>
            <dd>
              <Time at={Date.parse(decision.since)} />
            </dd>
            <dt>Prompt</dt>
            <dd>{`${decision.prompt_length.toLocaleString('en')} characters, which stay in the workspace`}</dd>
            <dt>Fingerprint</dt>
            <dd>
              <code>{decision.hash.slice(0, 8)}</code>
            </dd>
          </dl>
          <DecideForm decision={decision} />
        </>
      )}
      <p>
        <a href="/app">Back to the list</a>
      </p>
    </Page>
  );
}

/** Links to the issue or comment of a code host, and names the host: any machine of the account may have sent the address. */
const ReferenceLink = ({ reference, url }: { reference: string; url: string | null }) =>
  url === null ? reference : <a href={url} rel="noreferrer">{`${reference} on ${new URL(url).host}`}</a>;

/** Lists workspaces of the account with their last contact. */
export function WorkspacesPage({
  signedIn,
  workspaces,
  said,
}: {
  signedIn: SignedIn;
  workspaces: ListPage<ListedWorkspace & { isConnected: boolean }>;
  said: string | null;
}) {
  const isAdmin = signedIn.person.role === 'admin';
  return (
    <Page title="Workspaces" path="/app/workspaces" signedIn={signedIn}>
      <Notice said={said} />
      {workspaces.rows.length === 0 ? (
        <p>
          No workspace is linked yet. Run <code>svc link</code> inside a workspace on a machine that has
          logged in.
        </p>
      ) : (
        <table>
          <TableHead columns={['Workspace', 'Machine', 'Since', 'Last contact']} hasActions />
          <tbody>
            {workspaces.rows.map((each) => (
              <tr>
                <td data-label="Workspace">
                  <a href={`/app/workspaces/${each.id}`}>{each.name}</a>{' '}
                  <span class="dim">{`svc ${each.svc_version}`}</span>
                </td>
                <td data-label="Machine">{each.machine ?? 'logged out'}</td>
                <td data-label="Since">
                  <Time at={each.created_at} />
                </td>
                <td data-label="Last contact">
                  {each.isConnected ? 'connected' : <Time at={each.last_seen_at} />}
                </td>
                <td>
                  {each.revoked_at !== null ? 'unlinked ' : null}
                  {each.revoked_at === null && isAdmin ? (
                    <Action
                      action={`/app/workspaces/${each.id}/revoke`}
                      label="Unlink"
                      about={each.name}
                      kind="bad"
                    />
                  ) : null}
                  {isAdmin ? (
                    <a href={`/app/workspaces/${each.id}/remove`} aria-label={`Remove ${each.name}`}>
                      Remove
                    </a>
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <PageLinks
        page={workspaces}
        path="/app/workspaces"
        names={{ previous: 'Previous workspaces', next: 'Next workspaces' }}
      />
    </Page>
  );
}

/** Lists a workspace's events, the newest first. */
export function WorkspacePage({
  signedIn,
  id,
  name,
  events,
}: {
  signedIn: SignedIn;
  id: string;
  name: string;
  events: ListPage<LinkEvent>;
}) {
  return (
    <Page title={name} path="" signedIn={signedIn}>
      {events.rows.length === 0 ? (
        <p>It has sent no events yet.</p>
      ) : (
        <table>
          <TableHead columns={['When', 'What', 'Task', 'Agent', 'Why']} />
          <tbody>
            {events.rows.map(({ at, event, task_id, title, agent, reason }) => (
              <tr>
                <td data-label="When">
                  <Time at={Date.parse(at)} />
                </td>
                <td data-label="What">{event.replaceAll('_', ' ')}</td>
                <td data-label="Task">{[task_id, title].filter((part) => part !== null).join(' ')}</td>
                <td data-label="Agent">{agent ?? ''}</td>
                <td data-label="Why">{reason ?? ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <PageLinks
        page={events}
        path={`/app/workspaces/${id}`}
        names={{ previous: 'Newer events', next: 'Older events' }}
      />
      <p>
        <a href="/app/workspaces">Workspaces</a>
      </p>
    </Page>
  );
}
