import { Hono } from 'hono';
import { asSvcError, SvcError, toHttpStatus } from '../../core/base/errors.ts';
import {
  checkEncoding,
  checkTime,
  createVerifier,
  LARGEST_SIGNED_BYTES,
  SCHEMES,
} from '../../core/http/signature.ts';
import { createFailures, refuseSignature } from '../../core/http/signature-failures.ts';
import { ADDONS } from '../../core/link-protocol/capabilities.ts';
import { networkOf } from '../client-address.ts';
import type { LinkedWorkspace, TargetRow } from '../database/tables.ts';
import { readWorkspaces } from '../deliveries/chosen-workspaces.ts';
import { capabilityOf } from '../deliveries/targets.ts';
import {
  checkOutcome,
  describeStanding,
  isDecided,
  type KnownDecision,
  readSignedWish,
  requireDecidable,
} from '../links/signed-decisions.ts';
import type { ServerContext, ServerEnv, ServerParts } from './context.ts';
import { answerProblems } from './problems.ts';

/** Time limit for the workspace's answer to a request. */
const PATIENCE_MS = 5000;
const SCHEME = SCHEMES.svc;

/** A request with a valid signature. */
interface SignedRequest {
  workspace: LinkedWorkspace;
  /** The catch URL whose secret signed it. */
  target: TargetRow;
  signature: Buffer;
  signedAt: number;
  body: Buffer;
}

/**
 * Routes for automations to query and decide, signed with the secret of their catch URL: the routes of the receiver
 * (docs/automate/receiver.md), for workspaces that are not reachable from outside. The workspace decides.
 */
export function signedRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { db, clock, log, targets, plans, workspaces, pending, commands, polls, signatures } = parts;
  const routes = new Hono<ServerEnv>();
  const failures = createFailures({ clock });
  routes.onError(answerProblems(log, SCHEME.challenge));

  /** Finds the signing secret. A missing workspace has none, so its existence is not revealed. */
  async function findSigner(id: string, verify: (secrets: readonly string[]) => Buffer | null) {
    const workspace = /^w_[\w-]{1,64}$/.test(id) ? await workspaces.findLinked(id) : null;
    if (workspace === null) return null;
    for (const target of await targets.list(workspace.account_id)) {
      if (!ADDONS.some((addon) => addon === target.kind)) continue;
      const signature = verify(targets.open(target).secrets);
      if (signature !== null) return { workspace, target, signature };
    }
    return null;
  }

  async function checkTarget(target: TargetRow, workspace: LinkedWorkspace): Promise<void> {
    const { capabilities } = await plans.entitlementsOf(target.account_id);
    if (!capabilities.includes(capabilityOf(target.kind)))
      throw new SvcError('capability_locked', `the add-on ${target.kind} is off`, {
        hint: 'the operator of the server enables it',
      });
    if (target.is_on !== 1 || target.paused_at !== null)
      throw new SvcError(
        'actor_denied',
        `the catch URL of ${target.kind} is ${target.is_on === 1 ? 'paused' : 'switched off'}, and cannot decide`,
        { hint: 'see its page in the settings of the account' },
      );
    const chosen = readWorkspaces(target);
    if (chosen !== null && !chosen.includes(workspace.id))
      throw new SvcError('not_found', `the catch URL of ${target.kind} is not for this workspace`);
  }

  /** The checks of every request, in the receiver's order. Nothing is parsed before the signature is verified. */
  async function readSigned(context: ServerContext, method: 'GET' | 'POST'): Promise<SignedRequest> {
    const { headers } = context.env.incoming;
    if (context.req.method !== method)
      throw new SvcError('method_not_allowed', `this route only accepts ${method}`, {
        data: { allow: method },
      });
    checkEncoding(headers);
    const body = Buffer.from(await context.req.arrayBuffer());
    if (body.length > LARGEST_SIGNED_BYTES)
      throw new SvcError('body_too_large', `the body has more than ${LARGEST_SIGNED_BYTES} bytes`);
    const timestamp = checkTime(SCHEME, headers, clock.now());
    const signer = await findSigner(context.req.param('workspace') ?? '', (secrets) =>
      createVerifier(secrets)(SCHEME, headers, timestamp, body),
    );
    if (signer === null) throw refuseSignature(failures, networkOf(context.get('address')));
    await checkTarget(signer.target, signer.workspace);
    return { ...signer, signedAt: Number(timestamp) * 1000, body };
  }

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
