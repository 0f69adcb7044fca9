/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { isFinal } from '../chats/describe.ts';
import { DecisionPage, WaitingPage } from '../pages/decisions.tsx';
import { RunsPage } from '../pages/runs.tsx';
import type { ServerContext, ServerEnv, ServerParts } from './context.ts';
import { readForm, readPageWish } from './guards.ts';
import { workspaceRoutes } from './workspace-routes.tsx';

/** Time limit for the workspace's answer to a button. */
const PATIENCE_MS = 5000;

const readDecisionId = (context: ServerContext): string | null => {
  const id = context.req.param('decision') ?? '';
  return /^d-[1-9]\d{0,14}$/.test(id) ? id : null;
};

/** Returns a function that finds the workspace in the address; null for one of another account. */
function createWorkspaceFinder({ workspaces }: Pick<ServerParts, 'workspaces'>) {
  // Invalid ids are not looked up: PostgreSQL accepts no NUL in a text.
  return async function findWorkspace(context: ServerContext) {
    const id = context.req.param('workspace') ?? '';
    return /^w_[\w-]{1,64}$/.test(id) ? workspaces.find(context.get('signedIn').account.id, id) : null;
  };
}

/** Pages about pending decisions, sessions and workspaces. The server forwards requests; the workspace decides. */
export function decisionRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { clock, pending, runs, workspaces, commands, polls } = parts;
  const findWorkspace = createWorkspaceFinder(parts);
  const routes = new Hono<ServerEnv>();

  routes.get('/', async (context) => {
    const signedIn = context.get('signedIn');
    const { id } = signedIn.account;
    const [waiting, linked] = await Promise.all([
      pending.list(id, readPageWish(context)),
      workspaces.countLinked(id),
    ]);
    return context.html(<WaitingPage signedIn={signedIn} waiting={waiting} hasWorkspaces={linked > 0} />);
  });

  routes.get('/runs', async (context) => {
    const signedIn = context.get('signedIn');
    const listed = await runs.list(signedIn.account.id);
    return context.html(<RunsPage signedIn={signedIn} {...listed} isConnected={polls.isConnected} />);
  });

  async function renderDecision(context: ServerContext, error?: string, status: 200 | 409 | 422 = 200) {
    const signedIn = context.get('signedIn');
    const workspace = await findWorkspace(context);
    if (workspace === null) return context.notFound();
    const id = readDecisionId(context);
    if (id === null) return context.notFound();
    const [decision, command] = await Promise.all([
      pending.find(signedIn.account.id, workspace.id, id),
      commands.findNewest(workspace.id, id),
    ]);
    if (decision === null && command === null) return context.notFound();
    return context.html(
      <DecisionPage
        signedIn={signedIn}
        decision={decision}
        id={id}
        command={command}
        now={clock.now()}
        isConnected={polls.isConnected(workspace.id)}
        {...(error === undefined ? {} : { error })}
      />,
      status,
    );
  }
  routes.get('/decisions/:workspace/:decision', (context) => renderDecision(context));
  for (const verb of ['approve', 'deny'] as const)
    routes.post(`/decisions/:workspace/:decision/${verb}`, async (context) => {
      const signedIn = context.get('signedIn');
      const workspace = await findWorkspace(context);
      if (workspace === null) return context.notFound();
      const id = readDecisionId(context);
      if (id === null) return context.notFound();
      const [decision, newest] = await Promise.all([
        pending.find(signedIn.account.id, workspace.id, id),
        commands.findNewest(workspace.id, id),
      ]);
      // The workspace answers a command before it reports that the decision is no longer pending.
      if (decision === null || isFinal(newest))
        return renderDecision(context, 'It is no longer pending: it was decided or replaced.', 409);
      const field = await readForm(context);
      const hash = field('hash');
      if (!/^[0-9a-f]{64}$/.test(hash))
        return renderDecision(context, 'The form does not come from this page.', 422);
      const typed = field('code').replace(/\s+/g, '');
      if (verb === 'approve' && decision.approval === 'code' && !/^\d{6}$/.test(typed))
        return renderDecision(context, 'The code has six digits.', 422);
      const command = await commands.give(workspace, {
        verb,
        decision: decision.decision_id,
        // The hash that the page showed, which may be older than the pending decision.
        hash,
        person: signedIn.person.name,
        channel: 'page',
        code: verb === 'approve' && /^\d{6}$/.test(typed) ? typed : null,
      });
      if (polls.isConnected(workspace.id)) await commands.waitForOutcome(command.id, PATIENCE_MS);
      return context.redirect(`/app/decisions/${workspace.id}/${decision.decision_id}`, 303);
    });

  routes.route('/', workspaceRoutes(parts, findWorkspace));
  return routes;
}
