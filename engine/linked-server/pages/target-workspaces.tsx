/** @jsxImportSource hono/jsx */
import { formatCount } from '../../core/base/text.ts';
import type { ListPage } from '../database/list-page.ts';
import type { TargetRow } from '../database/tables.ts';
import { readWorkspaces, type WorkspaceWish } from '../deliveries/chosen-workspaces.ts';
import type { ListedWorkspace } from '../links/workspace-lists.ts';
import type { SignedIn } from '../people/people.ts';
import { Choice, Field, Notice, Page } from './layout.tsx';
import { PageLinks } from './page-links.tsx';

/** The workspaces of an account for a target's form. */
export interface OfferedWorkspaces {
  /** Checkboxes for the form; null if there are too many for a page. */
  offered: readonly ListedWorkspace[] | null;
  /** The first workspaces of the target. */
  named: readonly ListedWorkspace[];
}

function WorkspaceChoice({
  workspace: { id, name, machine },
  chosen,
}: {
  workspace: ListedWorkspace;
  chosen: readonly string[];
}) {
  const about = `on ${machine ?? 'a machine that is logged out'}`;
  return (
    <Choice type="checkbox" name="workspaces[]" value={id} isChosen={chosen.includes(id)} about={about}>
      {name}
    </Choice>
  );
}

/** The choice of workspaces in a target's form. */
export function WorkspaceFields({
  wish: { scope, ticked },
  offered,
}: {
  wish: WorkspaceWish;
  offered: OfferedWorkspaces['offered'];
}) {
  if (offered?.length === 0 && scope === 'all') return null;
  return (
    <fieldset>
      <legend>Workspaces</legend>
      <Choice type="radio" name="scope" value="all" isChosen={scope === 'all'} about="later ones too">
        all of the account
      </Choice>
      {offered === null ? (
        <Choice
          type="radio"
          name="scope"
          value="listed"
          isChosen={scope !== 'all'}
          about="on a separate page, linked from here"
        >
          only the chosen ones
        </Choice>
      ) : (
        <>
          <Choice type="radio" name="scope" value="ticked" isChosen={scope !== 'all'}>
            only the ones ticked here
          </Choice>
          <div class="below">
            {offered.map((workspace) => (
              <WorkspaceChoice workspace={workspace} chosen={ticked} />
            ))}
          </div>
        </>
      )}
    </fieldset>
  );
}

/** Describes the workspaces of a target. */
export function describeChosen(target: TargetRow, named: OfferedWorkspaces['named']): string {
  const chosen = readWorkspaces(target);
  if (chosen === null) return 'all of the account';
  if (chosen.length === 0) return 'none, so nothing is sent there';
  const names = named.map(({ name }) => name).join(', ');
  const more = chosen.length - named.length;
  return more > 0 ? `${names} and ${more} more` : names;
}

/** The search among the workspaces of an account. */
export interface WorkspaceSearch {
  find: string;
  /** Only those of the target. */
  isChosenOnly: boolean;
}

/** The page for choosing the workspaces of a target among many. */
export function TargetWorkspacesPage({
  signedIn,
  target,
  search,
  place,
  workspaces,
  found,
  said,
  error,
}: {
  signedIn: SignedIn;
  target: TargetRow;
  search: WorkspaceSearch;
  /** Other parameters of the address. */
  place: Readonly<Record<string, string>>;
  workspaces: ListPage<ListedWorkspace>;
  /** Number of matches by name, on all pages. */
  found: number;
  said?: string | null;
  error?: string | null;
}) {
  const { find, isChosenOnly } = search;
  const chosen = readWorkspaces(target);
  const back = `/app/settings/targets/${target.id}`;
  const path = `${back}/workspaces`;
  return (
    <Page title={`Workspaces of ${target.name}`} path="/app/settings" signedIn={signedIn}>
      <Notice said={said ?? null} error={error ?? null} />
      <p>
        {chosen === null
          ? 'Events of all workspaces of the account go there now. Saving here replaces that. '
          : `Events of ${formatCount(chosen.length, 'workspace')} go there. `}
        <a href={back}>{`Back to ${target.name}`}</a>
      </p>
      <form method="get" action={path}>
        <Field
          name="find"
          label="Find"
          value={find}
          hint="A part of the name of a workspace or of its machine"
          isOptional
        />
        <Choice type="checkbox" name="chosen" value="1" isChosen={isChosenOnly}>
          only the chosen ones
        </Choice>
        <button class="plain" type="submit">
          Find
        </button>
      </form>
      {workspaces.rows.length === 0 ? (
        <p>None found.</p>
      ) : (
        <form method="post" action={path}>
          {Object.entries(place).map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          {workspaces.rows.map(({ id }) => (
            <input type="hidden" name="shown[]" value={id} />
          ))}
          <fieldset>
            <legend>Workspaces</legend>
            {workspaces.previous === null && workspaces.next === null ? null : (
              <p class="dim">Save before you continue: each page is saved separately</p>
            )}
            {workspaces.rows.map((workspace) => (
              <WorkspaceChoice workspace={workspace} chosen={chosen ?? []} />
            ))}
          </fieldset>
          <div class="row">
            <button type="submit" name="what" value="shown">
              Save
            </button>
            {find === '' ? null : (
              <>
                <button class="plain" type="submit" name="what" value="choose-found">
                  {`Choose all ${found} that were found`}
                </button>
                <button class="plain" type="submit" name="what" value="leave-found">
                  {`Remove all ${found}`}
                </button>
              </>
            )}
          </div>
        </form>
      )}
      <PageLinks
        page={workspaces}
        path={path}
        names={{ previous: 'Previous workspaces', next: 'Next workspaces' }}
        query={{ ...(find === '' ? {} : { find }), ...(isChosenOnly ? { chosen: '1' } : {}) }}
      />
    </Page>
  );
}
