import { Hono } from 'hono';
import { asSvcError, SvcError, toHttpStatus } from '../../core/base/errors.ts';
import { SCHEMES } from '../../core/http/signature.ts';
import type { LinkedWorkspace } from '../database/tables.ts';
import {
  checkOutcome,
  describeStanding,
  isDecided,
  type KnownDecision,
  readSignedWish,
  requireDecidable,
} from '../links/signed-decisions.ts';
import type { ServerEnv, ServerParts } from './context.ts';
import { answerProblems } from './problems.ts';
import { createSignedReader, type SignedRequest } from './read-signed.ts';

/** Time limit for the workspace's answer to a request. */
const PATIENCE_MS = 5000;

/**
 * Routes for automations to query and decide, signed with the secret of their catch URL: the routes of the receiver
 * (docs/automate/receiver.md), for workspaces that are not reachable from outside. The workspace decides.
 */
export function signedRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { db, clock, log, pending, commands, polls, signatures } = parts;
  const routes = new Hono<ServerEnv>();
  const readSigned = createSignedReader(parts);
  routes.onError(answerProblems(log, SCHEMES.svc.challenge));

  async function readStanding(workspace: LinkedWorkspace, id: string): Promise<KnownDecision> {
    if (!/^d-[1-9]\d{0,14}$/.test(id)) throw new SvcError('not_found', 'there is no such decision');
    const [decision, command] = await Promise.all([
      pending.find(workspace.account_id, workspace.id, id),
      commands.findNewest(workspace.id, id),
    ]);
    return { workspace, id, decision, command };
  }

  /** Runs code that may refuse a request; a refused request has used up its signature. */
  async function runOnce<T>({ signature, signedAt }: SignedRequest, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      const { code } = asSvcError(thrown);
      if (toHttpStatus(code) < 500 && code !== 'replayed') await signatures.use(db, signature, signedAt);
      throw thrown;
    }
  }

  routes.all('/:workspace/:decision', async (context) => {
    const { workspace } = await readSigned(context, 'GET');
    const standing = await readStanding(workspace, context.req.param('decision'));
    return context.json(describeStanding(standing, clock));
  });

  for (const verb of ['approve', 'deny'] as const)
    routes.all(`/:workspace/:decision/${verb}`, async (context) => {
      const signed = await readSigned(context, 'POST');
      const { workspace, target, signature, signedAt, body } = signed;
      const use = (change: typeof db): Promise<void> => signatures.use(change, signature, signedAt);
      const id = context.req.param('decision');
      const before = await runOnce(signed, async () => {
        const standing = await readStanding(workspace, id);
        const wish = readSignedWish(body, { workspace: workspace.id, decision: id });
        if (isDecided(standing, verb)) return { standing, asked: null };
        const { hash } = requireDecidable(standing, verb, wish);
        return { standing, asked: { hash, ...(wish.reason === null ? {} : { reason: wish.reason }) } };
      });
      if (before.asked === null) {
        await use(db);
        return context.json(describeStanding(before.standing, clock));
      }
      const command = await commands.give(
        workspace,
        { verb, decision: id, person: target.kind, channel: 'automation', ...before.asked },
        use,
      );
      if (polls.isConnected(workspace.id)) await commands.waitForOutcome(command.id, PATIENCE_MS);
      const newest = await commands.findNewest(workspace.id, id);
      const standing = { ...before.standing, command: newest };
      checkOutcome(standing);
      if (newest?.outcome == null) return context.json(describeStanding(standing, clock), 202);
      // Another caller was first, perhaps with the opposite decision.
      isDecided(standing, verb);
      return context.json(describeStanding(standing, clock));
    });
  return routes;
}
